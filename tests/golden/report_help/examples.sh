# Runs the example in the help of each report, with an input for the name of the file in it. Prints those that fail.
$UNDUMP "$IN/../report_stacks/app.log.txt" app.plog
cp "$IN/../report_ops/train.json" train.json
mkdir logs && cp app.plog logs
ran=0
for report in $($PROF report --list | sed -n 's/^  \([a-z_-]*\)  .*/\1/p'); do
  example=$($PROF report "$report" --help | sed -n "s/^  prof report \($report .*\)/\1/p")
  [ -n "$example" ] || echo "no example: $report"
  eval "$PROF report $example" > output 2> error || { echo "$report: $?: $example"; cat error; }
  ran=$((ran + 1))
done
echo "examples that ran: $ran"
