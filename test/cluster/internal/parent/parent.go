// Package parent notices that the process which started this one has ended, however it ended.
//
// It compares getppid with the parent's pid a few times a second. PR_SET_PDEATHSIG would not do: it exists on Linux
// alone and fires when the forking thread ends, which Go does as it likes. A pipe held by the parent would not do
// either: a shell does not hold one. Polling serves a shell, a test and "cluster up" alike.
package parent

import (
	"context"
	"os"
	"strconv"
	"time"
)

// Variable names the environment variable by which a parent tells its own pid. Without it, a parent that is killed
// while its child is still starting would not be missed: getppid would never have named it.
const Variable = "DYNCONTROLLER_CLUSTER_PARENT"

const interval = 200 * time.Millisecond

// Process is the pid of the process that started this one.
type Process int

// Find should be called early: a parent that did not tell its pid is missed only if it ends after this.
func Find() Process {
	if told, err := strconv.Atoi(os.Getenv(Variable)); err == nil {
		return Process(told)
	}
	return Process(os.Getppid())
}

// Environment is the setting with which to start a child of this process.
func Environment() string {
	return Variable + "=" + strconv.Itoa(os.Getpid())
}

// Wait returns when the parent has ended or ctx is done.
func (p Process) Wait(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for os.Getppid() == int(p) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
