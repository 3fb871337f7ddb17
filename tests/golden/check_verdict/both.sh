# both.sh NAME SED: makes a log of whole.log.txt by the sed script, and prints the verdict of prof check as text and JSON,
# and the coverage line of a report. Its status is that of prof check.
sed "$2" "$IN/whole.log.txt" > "$1.txt"
$UNDUMP "$1.txt" "$1.plog"
$PROF check "$1.plog" > text
status=$?
grep -e ' verdict ' -e coverage: text
$PROF report gpu-trace --limit 1 "$1.plog" | tail -n 1
$PROF check --format json "$1.plog" | grep -o '"whole":[a-z]*,"verdict":"[^"]*"'
exit $status
