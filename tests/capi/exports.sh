#!/bin/sh
# The C library exports what its header declares, all of it begins with lg_, and there are at most 90 functions.
# exports.sh NM LIBRARY HEADER
set -eu
exported=$("$1" -D --defined-only "$2" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | sort)
declared=$(grep -o 'LG_API [a-z_0-9]* lg_[a-z_0-9]*(' "$3" | sed 's/.* //; s/(//' | sort)
if [ "$exported" != "$declared" ]; then
  echo "exported: $exported"
  echo "declared: $declared"
  exit 1
fi
count=$(echo "$declared" | wc -l)
echo "$count functions"
[ "$count" -le 90 ]
