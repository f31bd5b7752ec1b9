#!/bin/bash
# A training job with a data service of its own, within one allocation:
#
#   sbatch --nodes=4 deploy/slurm/train.sh python train.py
#
# The dispatcher runs on the first node, a worker on every node, and the trainers, which read from env:TFSVC_DISPATCHER,
# wherever TFSVC_TRAIN puts them. A server that crashes is started again. A job that is requeued keeps its number, and so
# finds its journal again.
#
#   TFSVC_STATE    a directory that all nodes share; .tfsvc-JOB below the working directory when not given
#   TFSVC_WORKERS  options of srun for the workers; one a node with 4 processors when not given
#   TFSVC_TRAIN    options of srun for the trainers; one a node when not given
#   TFSVC_HOST     the interface to bind; all when not given
#   TFSVC_DRAIN    seconds for which a worker goes on that is told to end; 60 when not given
#
#SBATCH --job-name=train
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

if [ $# -eq 0 ]; then
  echo "say what to train with: sbatch $0 python train.py" >&2
  exit 2
fi

state=${TFSVC_STATE:-$PWD/.tfsvc-$SLURM_JOB_ID}
host=${TFSVC_HOST:-0.0.0.0}
read -r -a workers <<< "${TFSVC_WORKERS:---ntasks-per-node=1 --cpus-per-task=4}"
read -r -a train <<< "${TFSVC_TRAIN:---ntasks-per-node=1}"
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)

mkdir -p "$state"
chmod 700 "$state"
rm -f "$state/address" # of an earlier run of this job, whose ports may be somebody else's now
if [ ! -s "$state/token" ]; then
  # Other users of the nodes must not register datasets, which are code.
  (umask 077 && python3 -c 'import secrets; print(secrets.token_hex(32))' > "$state/token")
fi
export TFSVC_TOKEN_FILE=$state/token
export TFSVC_DISPATCHER=file:$state/address

# Starts a server again until it ends in good order. Called in the steps below.
# shellcheck disable=SC2329
keep() {
  until "$@"; do
    echo "$(hostname): $* has failed and begins again" >&2
    sleep 1
  done
}
export -f keep

# Steps of one job share its nodes, and a failed task does not end the others.
step=(srun --overlap --kill-on-bad-exit=0)

# The job's own network is trusted not to listen; the token keeps others out.
"${step[@]}" --nodes=1 --ntasks=1 --nodelist="$head" \
  bash -c 'keep tfsvc dispatcher "$@"' dispatcher \
  --host "$host" --port 0 --insecure --work-dir "$state/journal" --address-file "$state/address" &
"${step[@]}" "${workers[@]}" \
  bash -c 'keep tfsvc worker "$@"' worker \
  "$TFSVC_DISPATCHER" --host "$host" --insecure --drain "${TFSVC_DRAIN:-60}" &

code=0
"${step[@]}" "${train[@]}" "$@" || code=$?

tfsvc stop "$TFSVC_DISPATCHER" || kill %1 %2
wait || true
if [ $code -eq 0 ]; then
  rm -r "$state"
fi
exit $code
