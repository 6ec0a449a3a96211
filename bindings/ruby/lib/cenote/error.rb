# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

module Cenote
  # What failed. Subclasses: ServerError (the statement was refused, the session lives), ConnectionError,
  # AuthenticationError and ProtocolError (the session is gone), TimeoutError, UnsupportedError,
  # ArgumentError, StateError, LimitError, ConversionError.
  #
  # Of ServerError, by SQLSTATE (and by MariaDB's and MySQL's numbers): ConstraintError, and of it UniqueViolation,
  # ForeignKeyViolation, NotNullViolation, CheckViolation, ExclusionViolation; TransactionRollback, which is worth trying
  # again; QueryCanceled; DataError, a value that does not fit.
  class Error
    # Five characters of ISO 9075, and the server's own error number (0: none).
    attr_reader :sqlstate, :native

    # The fields of the error by PostgreSQL's letters ("D" detail, "H" hint, "n" constraint, …).
    attr_reader :fields

    def detail = fields && fields["D"]
    def hint = fields && fields["H"]

    # A commit, or a statement in autocommit, may or may not have been carried out.
    def outcome_unknown? = sqlstate == "08007"
  end
end
