# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

module Cenote
  # Values that depend on the server: lists as parameters, and texts within SQL.
  class Connection
    # A list as PostgreSQL reads an array.
    module ArrayText
      def self.of(list) = "{#{list.map { |item| element(item) }.join(",")}}"

      def self.element(item)
        case item
        when nil then "NULL"
        when true, false, Integer, Float then item.to_s
        when Array then of(item)
        when BigDecimal then item.to_s("F")
        when Symbol then quote(item.name)
        when String then quote(item.encoding == Encoding::BINARY ? "\\x#{item.unpack1("H*")}" : item)
        when Time, DateTime then quote(item.to_time.strftime("%F %T.%N%:z"))
        when Date then quote(item.iso8601)
        else raise TypeError, "a #{item.class} cannot be bound in a list"
        end
      end

      def self.quote(text) = "\"#{text.encode(Encoding::UTF_8).gsub(/["\\]/) { |c| "\\#{c}" }}\""
    end
    private_constant :ArrayText

    # A text as a literal in quotes, bytes (a binary string) as a literal of bytes, nil as NULL. It is
    # right for the server and for all settings of its session. Where a placeholder is possible, it is better.
    def escape_literal(text)
      return "NULL" if text.nil?

      text = text.name if text.is_a?(Symbol)
      raise TypeError, "a #{text.class} is no text: give it as a value" unless text.is_a?(String)
      return literal_of_bytes(text.unpack1("H*")) if text.encoding == Encoding::BINARY

      raise ::ArgumentError, "the text is not valid #{text.encoding}" unless text.valid_encoding?

      literal_of_text(text.encode(Encoding::UTF_8))
    end

    # A name, in the server's quotes.
    def escape_identifier(name)
      name = name.to_s
      raise ::ArgumentError, "a name holds no zero byte" if name.include?("\0")

      case dialect
      when "mysql" then "`#{name.gsub("`", "``")}`"
      when "freetds" then "[#{name.gsub("]", "]]")}]"
      else "\"#{name.gsub('"', '""')}\""
      end
    end
    alias quote_ident escape_identifier

    private

    # An ODBC driver names its server.
    def dialect
      return backend unless backend == "odbc"

      case parameter("odbc_dbms")
      when /\A(mysql|mariadb)/i then "mysql"
      when /\Apostgresql/i then "postgresql"
      end
    end

    # Whether a backslash escapes depends on the session. A text with one is written so that it does not matter.
    def literal_of_text(text)
      plain = "'#{text.gsub("'", "''")}'"
      return is_plain_to_mysql?(text) ? plain : "_utf8mb4 x'#{text.unpack1("H*")}'" if dialect == "mysql"
      raise ::ArgumentError, "a text of SQL holds no zero byte" if text.include?("\0")
      return " E#{plain.gsub("\\", "\\\\\\\\")}" if dialect == "postgresql" && text.include?("\\")

      plain
    end

    # In some character sets the last byte of a character looks like a quote or a backslash.
    def is_plain_to_mysql?(text)
      charset = parameter("character_set_client") || parameter("character_set")
      text.match?(/\A[ -\[\]-~]*\z/) || (charset.to_s.start_with?("utf8") && !text.match?(/[\\\0]/))
    end

    def literal_of_bytes(hex)
      case dialect
      when "postgresql" then "decode('#{hex}', 'hex')"
      when "freetds" then "0x#{hex}"
      else "x'#{hex}'"
      end
    end

    def bindable(values)
      return values unless values.any?(Array)

      unless backend == "postgresql"
        raise TypeError, "an Array cannot be bound: a pool of #{backend} has no arrays (a list of values is for exec_params)"
      end

      values.map { |value| value.is_a?(Array) ? ArrayText.of(value) : value }
    end
  end
end
