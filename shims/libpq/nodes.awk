# SPDX-License-Identifier: BSD-2-Clause
# A version script from exports.txt: a node RHPG_RELEASE for each release of PostgreSQL that brought
# names, each built on the one before, as in Red Hat's libpq.
/^#/ || NF == 0 { next }
{ names[$2] = names[$2] "\t\t" $1 ";\n" }
END {
	n = split("9.6 10 11 12 13 14 15 16 17 18", releases, " ")
	for (i = 1; i <= n; i++) {
		r = releases[i]
		if (!(r in names))
			continue
		printf "RHPG_%s {\n\tglobal:\n%s}%s;\n", r, names[r], before
		before = " RHPG_" r
	}
}
