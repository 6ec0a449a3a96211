# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require_relative "lib/cenote/version"

Gem::Specification.new do |spec|
  spec.name = "cenote"
  spec.version = Cenote::VERSION
  spec.summary = "Database sessions lent from a pool"
  spec.description = "Ruby's way to cenoted: PostgreSQL, MariaDB, SQLite and other servers without logging in."
  spec.authors = ["The Cenote authors"]
  spec.license = "BSD-2-Clause"
  spec.homepage = "https://cenote.example/"
  spec.required_ruby_version = ">= 3.1"
  spec.files = Dir["lib/**/*.rb", "ext/**/*.{c,h,rb}", "LICENSE", "README.md"]
  spec.extensions = ["ext/cenote/extconf.rb"]
  spec.add_dependency "bigdecimal"
end
