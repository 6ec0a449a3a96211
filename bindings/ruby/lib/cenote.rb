# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require "cenote/version"
require "cenote/cenote_ext"
require "cenote/error"
require "cenote/result"
require "cenote/statement"
require "cenote/connection"
require "cenote/value"

# Database sessions borrowed from a pool.
module Cenote
  # Attach to a session of a pool: its name, or a URI (cenote://host/POOL?tls=verify-full), or the
  # options of libcenote (man 3 cenote_conn) as keywords. With a block, the session goes back at the
  # end of the block, and the block's value is returned.
  #
  #   Cenote.connect("inventory", user: "app") { |db| db.query("select 1").first }
  def self.connect(target = nil, **options)
    connection = Connection.new(target, **options)
    return connection unless block_given?

    begin
      yield connection
    ensure
      connection.close
    end
  end
end
