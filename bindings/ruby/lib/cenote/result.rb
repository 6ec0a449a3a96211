# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

module Cenote
  # Rows, and what else a statement gave. Enumerable over its rows, as hashes by column
  # (#each) or as arrays (#each_row). Rows that come in batches can be read once.
  class Result
    alias count size
    alias length size

    # The first value of the first row; nil where there is none.
    def value
      each_row { |row| return row.first }
      nil
    end

    # The values of one column, by its name or number.
    def column(which)
      index = which.is_a?(Integer) ? which : fields.index { |name| name.to_s == which.to_s }
      raise IndexError, "no column #{which}" unless index

      each_row.map { |row| row.fetch(index) }
    end

    def inspect = "#<#{self.class} #{kind} #{tag.inspect} #{size} rows>"
  end
end
