package config

import (
	"fmt"
	"time"

	"github.com/spf13/viper"
)

// Election says whether one of several processes is chosen to run the rules, and
// how. Lease > Renew > 1.2 * Retry > 0, whether it is enabled or not.
type Election struct {
	Enabled bool
	// Lease is how long the others wait for a leader that does not renew the lease,
	// in whole seconds; Renew how long a leader goes on writing after its last
	// renewal, and Retry how long it waits between two.
	Lease, Renew, Retry time.Duration
	Name                string // of the Lease
	Namespace           string // of the Lease; empty for that of the process
}

// jitter is by how much client-go may lengthen the time between two attempts.
const jitter = 1.2

func election(v *viper.Viper) Election {
	return Election{
		Enabled:   v.GetBool("leader-elect"),
		Lease:     v.GetDuration("leader-elect-lease-duration"),
		Renew:     v.GetDuration("leader-elect-renew-deadline"),
		Retry:     v.GetDuration("leader-elect-retry-period"),
		Name:      v.GetString("leader-elect-resource-name"),
		Namespace: v.GetString("leader-elect-resource-namespace"),
	}
}

// check holds that a leader stops before another one starts, and tries more than
// once before it stops. It is asked even where nobody is elected: the mistake
// would show only once somebody turns that on.
func (e Election) check() error {
	if e.Lease <= e.Renew {
		return fmt.Errorf("--leader-elect-lease-duration (%s) must be longer than --leader-elect-renew-deadline (%s): a leader has to stop before the next one starts", e.Lease, e.Renew)
	}
	if float64(e.Renew) <= jitter*float64(e.Retry) {
		return fmt.Errorf("--leader-elect-renew-deadline (%s) must be longer than 1.2 times --leader-elect-retry-period (%s): a renewal that fails has to be tried again", e.Renew, e.Retry)
	}
	return nil
}
