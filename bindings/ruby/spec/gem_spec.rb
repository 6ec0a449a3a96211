# SPDX-License-Identifier: BSD-2-Clause
# frozen_string_literal: true

require "rubygems/package"
require "tmpdir"

# The gem, as it is built here.
RSpec.describe "cenote.gemspec" do
  let(:folder) { File.expand_path("..", __dir__) }
  let(:spec) { Dir.chdir(folder) { Gem::Specification.load("cenote.gemspec") } }

  it "has a licence and a homepage" do
    expect(spec).to have_attributes(license: "BSD-2-Clause", homepage: %r{\Ahttps://})
    files = Dir.mktmpdir do |dir|
      gem = Dir.chdir(folder) { Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Gem::Package.build(spec, false, false, "#{dir}/a.gem") } }
      Gem::Package.new(gem).contents
    end
    expect(files).to include("LICENSE", "README.md", "ext/cenote/extconf.rb", "lib/cenote/value.rb")
    expect(File.read("#{folder}/LICENSE")).to eq File.read("#{folder}/../../LICENSE")
  end
end
