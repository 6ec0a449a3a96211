# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

module Cenote
  VERSION = "0.1.0"
end
