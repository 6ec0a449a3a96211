/* SPDX-License-Identifier: BSD-2-Clause */
#include "pq.h"
void
cpq_PQprint(FILE *fout, const PGresult *res, const PQprintOpt *ps)
{
	(void)fout;
	(void)res;
	(void)ps;
}
void
cpq_PQdisplayTuples(const PGresult *res, FILE *fp, int fillAlign, const char *fieldSep,
	int printHeader, int quiet)
{
	(void)res;
	(void)fp;
	(void)fillAlign;
	(void)fieldSep;
	(void)printHeader;
	(void)quiet;
}
void
cpq_PQprintTuples(
	const PGresult *res, FILE *fout, int PrintAttNames, int TerseOutput, int colWidth)
{
	(void)res;
	(void)fout;
	(void)PrintAttNames;
	(void)TerseOutput;
	(void)colWidth;
}
