# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

module Cenote
  # A session of a pool, for one thread or fiber at a time. Waiting lets other threads run, and uses
  # a fiber scheduler if there is one. Interrupting a call (Thread#raise, Timeout) closes the
  # session, since a later call would get its answer.
  class Connection
    ISOLATION = { default: 0, read_uncommitted: 1, read_committed: 2, repeatable_read: 3, serializable: 4 }.freeze
    private_constant :ISOLATION

    # The defaults for a query's rows: :symbolize_names, :types, :cast.
    attr_reader :query_options

    # query_options: see #query
    # session_options: what the backend offers (docs/backends.md), by name
    def initialize(target = nil, query_options: {}, session_options: {}, **options)
      @query_options = query_options
      set_uri(target.to_s) if target
      options.each { |name, value| set(name.to_s, option_text(value)) }
      session_options.each { |name, value| set_session_option(name.to_s, option_text(value)) }
      attach
    end

    # Run a statement with these values for the server's placeholders ($1, ?). A list is one value, a
    # PostgreSQL array; #exec_params takes a list of values.
    #
    # symbolize_names::  columns are symbols
    # types::            a hash of functions that make a value from its text, by type:
    #                    { json: JSON.method(:parse), decimal: :itself.to_proc }
    # cast::             false: all values stay text
    # stream::           this many rows at a time, in bounded memory; other statements may run in between
    #
    # Of several statements it returns the last result; #query_all returns all.
    def query(sql, *params, stream: nil, **options)
      # no values: the simple form, which takes several statements
      dress(run(sql, params.empty? ? nil : bindable(params), stream).last, options)
    end
    alias exec query

    # The same, with a list of the values. Without values it still takes a single statement.
    def exec_params(sql, params = [], stream: nil, **options)
      dress(run(sql, bindable(params), stream).last, options)
    end

    # Run a text of several statements: an array of their results.
    def query_all(sql, **options)
      run(sql, nil, nil).map { |result| dress(result, options) }
    end

    # Prepare a statement, to be executed many times.
    def prepare(sql) = Statement.new(self, sql)

    # Run a block in a transaction: commit at its end, roll back if it raises.
    #
    # isolation:: :read_committed, :repeatable_read, :serializable, …
    def transaction(isolation: :default, read_only: false, immediate: false)
      self.begin(isolation: isolation, read_only: read_only, immediate: immediate)
      begin
        value = yield self
      rescue Exception # rubocop:disable Lint/RescueException
        rollback unless closed?
        raise
      end
      commit
      value
    end

    def begin(isolation: :default, read_only: false, immediate: false)
      start(ISOLATION.fetch(isolation), (read_only ? 1 : 0) | (immediate ? 2 : 0))
    end

    # Copy data to the server (PostgreSQL's COPY … FROM STDIN): every string of an enumerable.
    # Returns the statement's result.
    def copy_in(sql, pieces)
      run(sql, nil, nil)
      begin
        pieces.each { |piece| break unless copy_put(piece) }
      rescue StandardError => e
        copy_end(e.message)
        begin
          rest
        rescue ServerError
          # the server only repeats our reason
        end
        raise
      end
      copy_end(nil)
      dress(rest.last, {})
    end

    # Copy data from the server (COPY … TO STDOUT): yields every piece. Returns the statement's result.
    def copy_out(sql)
      run(sql, nil, nil)
      while (piece = copy_get)
        yield piece
      end
      dress(rest.last, {})
    end

    # Wait for notices and notifications, and give them to the blocks of #on_notification and
    # #on_notice. Returns whether something arrived within `seconds` (nil: for ever).
    #
    # With a block, wait for the next notification, and give the block channel, server process and
    # payload. An earlier notification counts, unless #on_notification got it. Returns the channel; nil
    # after the time is over.
    def wait_for_notify(seconds = nil, &block)
      return wait(seconds) unless block

      heard = next_notification(seconds) or return
      block.call(*heard)
      heard.first
    end

    def backend = info("backend")
    def server_version = info("server_version")
    def inspect = "#<#{self.class} #{info("pool")} #{closed? ? "closed" : backend}>"

    private

    def option_text(value)
      case value
      when nil, String then value
      when true then "yes"
      when false then "no"
      else value.to_s
      end
    end

    def next_notification(seconds)
      ends = seconds && (now + seconds)
      keep_notifications(true)
      until (heard = take_notification)
        left = ends && [ends - now, 0].max
        wait(left)
        break if left == 0
      end
      heard || take_notification
    ensure
      keep_notifications(false)
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def dress(result, options)
      options = @query_options.merge(options) unless @query_options.empty?
      unknown = options.keys - %i[symbolize_names types cast]
      raise ::ArgumentError, "unknown option: #{unknown.first}" unless unknown.empty?

      result.send(:setup, options[:symbolize_names], options[:types], options[:cast] == false)
    end
  end
end
