#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""package.xml and composer.json agree with the driver's folder: package.py FOLDER"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

folder = pathlib.Path(sys.argv[1])
package = ET.parse(folder / "package.xml").getroot()
composer = json.loads((folder / "composer.json").read_text())
ns = {"p": "http://pear.php.net/dtd/package-2.0"}

header = (folder / "php_pdo_cenote.h").read_text()
version = re.search(r'PHP_PDO_CENOTE_VERSION "(.*)"', header)[1]
assert package.findtext("p:version/p:release", namespaces=ns) == version, version
assert package.findtext("p:providesextension", namespaces=ns) == composer["php-ext"]["extension-name"] == "pdo_cenote"
assert package.findtext("p:license", namespaces=ns) == composer["license"] == "BSD-2-Clause"
assert composer["type"] == "php-ext" and composer["homepage"].startswith("https://")
assert (folder / "LICENSE").read_text() == (folder / "../../LICENSE").read_text()

# the files for phpize and make, and the tests
wanted = {"config.m4", "LICENSE", "README.md", "examples/fish.php"}
for pattern in ("*.c", "*.h", "tests/*.phpt", "tests/*.inc"):
    wanted |= {str(path.relative_to(folder)) for path in folder.glob(pattern)}
listed = {file.get("name") for file in package.iterfind("p:contents/p:dir/p:file", ns)}
assert listed == wanted, (wanted - listed, listed - wanted)

# and config.m4 compiles all of them
compiled = set(re.findall(r"\w+\.c\b", (folder / "config.m4").read_text()))
assert compiled == {name for name in listed if re.fullmatch(r"\w+\.c", name)}, compiled
options = [option["name"] for option in composer["php-ext"]["configure-options"]]
assert options == [f"with-{name}" for name in re.findall(r"PHP_ARG_WITH\(\[(.*?)\]", (folder / "config.m4").read_text())]
