# compare.sh NAME...: for every report, compares NAME.whole with --nvtx part to NAME.part. Prints the reports that
# differ, those that are refused, and those that are the same with and without --nvtx for every NAME, about which the
# test proves nothing.
all=$($PROF report --list | sed -n 's/^  \([a-z_-]*\)  .*/\1/p')
taken= refused=
for report in $all; do
  if $PROF report $report part --nvtx part 2>&1 | grep -q 'cannot be cut to ranges'; then
    refused="$refused $report"
  else
    taken="$taken $report"
  fi
done
unknown=$taken
for name in "$@"; do
  mkdir cut part whole
  $PROF report $taken $name.whole --nvtx part --window 0us..400us --format csv -o cut/ 2> error || cat error
  $PROF report $taken $name.part --window 0us..400us --format csv -o part/ 2> error || cat error
  $PROF report $taken $name.whole --window 0us..400us --format csv -o whole/ 2> error || cat error
  differ= equal=0 left=
  for report in $taken; do
    if cmp -s cut/${report}_report.csv part/${report}_report.csv; then equal=$((equal + 1)); else differ="$differ $report"; fi
  done
  for report in $unknown; do
    cmp -s cut/${report}_report.csv whole/${report}_report.csv && left="$left $report"
  done
  unknown=$left
  rm -r cut part whole
  echo "$name: $equal equal, different:$differ"
done
echo "refused:$refused"
echo "the same without --nvtx:$unknown"
