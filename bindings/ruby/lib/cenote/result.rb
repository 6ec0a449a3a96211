# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

module Cenote
  # The rows of a statement, and its other results. Enumerable over the rows, as hashes by column
  # (#each) or as arrays (#each_row). Rows in batches can be read only once.
  class Result
    alias count size
    alias length size

    # The first value of the first row; nil: there is none.
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
