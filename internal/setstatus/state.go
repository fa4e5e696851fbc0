package setstatus

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// state is what the writer remembers of one set object.
type state struct {
	uid types.UID
	// settled is what the update looked like when nothing was left to be written.
	settled glance
	// version and status are of the object as the last write came back, empty once the
	// snapshot shows it or something newer.
	version string
	status  v1alpha1.Status
	// sent is what the last write asked for, and void whether that changed nothing: the
	// API server does not store all of it, and asking again would not help.
	sent v1alpha1.Status
	void bool
	// wrote is when the last write succeeded.
	wrote time.Time
	// retry is when the next attempt may be made, after a failure. Delay is how long it
	// waited, and said what was logged.
	retry time.Time
	delay time.Duration
	said  string
}

// glance tells apart what may need another status.
type glance struct {
	revision uint64
	version  string // of the object
}

// latest returns what is known of the status, and of which version of the object.
func (s *state) latest(update Update) (v1alpha1.Status, string) {
	if s.version != "" {
		order, err := resourceversion.CompareResourceVersion(update.ResourceVersion, s.version)
		if err == nil && order < 0 {
			return s.status, s.version
		}
		s.version, s.status = "", v1alpha1.Status{}
	}
	return update.Status, update.ResourceVersion
}

// failed has the next attempt wait, longer each time. It reports whether the text is
// another one than was told before.
func (s *state) failed(now time.Time, said string) (news bool) {
	news = said != s.said
	s.said = said
	s.delay = min(max(2*s.delay, firstRetry), lastRetry)
	s.retry = now.Add(s.delay)
	// The snapshot may know better by then.
	s.version, s.status = "", v1alpha1.Status{}
	return news
}
