# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

module Cenote
  # An error. Subclasses: ServerError (the server refused the statement, the session stays),
  # ConnectionError, AuthenticationError and ProtocolError (the session is lost), TimeoutError, UnsupportedError,
  # ArgumentError, StateError, LimitError, ConversionError.
  #
  # Subclasses of ServerError, by SQLSTATE (and by MariaDB's and MySQL's numbers): ConstraintError with
  # UniqueViolation, ForeignKeyViolation, NotNullViolation, CheckViolation and ExclusionViolation;
  # TransactionRollback, after which a retry may succeed; QueryCanceled; DataError, a value that does not fit.
  class Error
    # Five characters of ISO 9075, and the server's own error number (0: none).
    attr_reader :sqlstate, :native

    # The fields of the error by PostgreSQL's letters ("D" detail, "H" hint, "n" constraint, …).
    attr_reader :fields

    def detail = fields && fields["D"]
    def hint = fields && fields["H"]

    # A commit, or a statement in autocommit, may or may not have happened.
    def outcome_unknown? = sqlstate == "08007"
  end
end
