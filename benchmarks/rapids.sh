#!/usr/bin/env bash
# What of a training's Spark plans the RAPIDS Accelerator would run on a GPU. Needs no GPU: the plug-in looks at each plan (explainOnly), Spark runs it
# as ever. Prints a table of the operators of all plans.
#
#   mvn -N -Prapids package      the plug-in's jar, 1 GB, to jobs/target/rapids; once
#   benchmarks/rapids.sh [KEY=VALUE …]
#
#   BELLOWS_RAPIDS_LOG  keeps the log of the run under this name
set -euo pipefail
home=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
jar=$(find "$home/jobs/target/rapids" -name 'rapids-4-spark_*.jar' 2>/dev/null | head -n 1)
[ -n "$jar" ] || {
  printf 'rapids.sh: Cannot find the plug-in in jobs/target/rapids: fetch it with mvn -N -Prapids package\n' >&2
  exit 1
}
"$home/bin/bellows" --version >&2 # builds, where needed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# As bin/bellows sets them.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-${BELLOWS_THREADS:-$(nproc 2>/dev/null || echo 1)}} GOMP_SPINCOUNT=0 OMP_WAIT_POLICY=passive
export SPARK_LOCAL_IP=127.0.0.1 SPARK_HOME=$work SPARK_SCALA_VERSION=2.13 BELLOWS_HOME=$home
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
classpath=$home/jobs/target/classes:$home/pipeline/target/classes:$home/udfs/target/classes:$(<"$home/jobs/target/classpath.txt")

# An iteration of the quickstart, small, with a reference model, so that all stages have a plan. By spark-submit, since the jar must come by --jars.
"$java" "@$home/conf/jvm.options" "-Xmx${BELLOWS_HEAP:-2g}" -Djava.awt.headless=true -Dai.djl.offline=true "-Dbellows.home=$home" \
  "-Dlog4j2.configurationFile=$home/conf/log4j2.xml" -cp "$classpath" org.apache.spark.deploy.SparkSubmit \
  --properties-file "$home/conf/spark-local.conf" --conf spark.driver.host=127.0.0.1 --conf spark.driver.bindAddress=127.0.0.1 \
  --conf spark.plugins=com.nvidia.spark.SQLPlugin --conf spark.rapids.sql.mode=explainOnly --conf spark.rapids.sql.explain=ALL \
  --jars "$jar" --class io.bellows.jobs.Bellows spark-internal \
  train -c "$home/conf/quickstart.yaml" "trainer.default_local_dir=$work/run" --json trainer.total_training_steps=1 \
  data.train_batch_size=4 actor.ppo_mini_batch_size=4 rollout.n=4 data.val_max_samples=20 actor.use_kl_loss=true "$@" \
  >"$work/result.json" 2>"$work/errors" || {
  tail -n 20 "$work/errors" >&2
  exit 1
}
log=$work/run/logs/bellows.log
[ -z "${BELLOWS_RAPIDS_LOG:-}" ] || cp "$log" "$BELLOWS_RAPIDS_LOG"

grep -qE '[*!]Exec <' "$log" || {
  printf 'rapids.sh: The plug-in explained no plan; see what it logged with BELLOWS_RAPIDS_LOG=FILE\n' >&2
  exit 1
}

# Lines such as "*Exec <FilterExec> will run on GPU", "!Exec <X> cannot run on GPU because REASON; REASON" and, of operators that it does not know at all,
# "! <X> cannot …", whose expressions are then no reason of their own.
printf '| operator | count | would run on GPU | reason |\n|---|---|---|---|\n'
grep -oE '[*!](Exec)? ?<[A-Za-z0-9_]+Exec> .*' "$log" | sed -E 's/#[0-9]+L?//g; s/^([*!])(Exec)? *<([A-Za-z0-9_]+)> /\1\t\3\t/' |
  awk -F '\t' '{
    answer = $1 == "*" ? "yes" : "no"
    reason = $3
    if (answer == "yes" || reason !~ /because /) reason = ""
    sub(/.*because /, "", reason)
    if (reason ~ /does not currently support the operator class/) reason = "GPU does not currently support the operator class"
    gsub(/\|/, "\\|", reason)
    count[$2 " | %d | " answer " | " reason]++
  } END { for (row in count) { line = row; sub(/%d/, count[row], line); print "| " line " |" } }' | sort
