package setstatus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
)

// Set names a set object. It is comparable.
type Set struct {
	Kind      string // RuleSet or ClusterRuleSet
	Namespace string // empty for a ClusterRuleSet
	Name      string
}

// Update is a set object as it is known, and what its status is to say.
type Update struct {
	Set             Set
	UID             types.UID
	ResourceVersion string
	// Revision is another one where Compose may return something else than before for
	// other reasons than the object itself.
	Revision uint64
	// Status is what the object has.
	Status v1alpha1.Status
	// Compose returns what it is to have, by what it has: that of Status, or what the
	// writer knows to be newer. It is called by the goroutine of [Writer.Run], and only
	// where the object or the revision has changed.
	Compose func(previous v1alpha1.Status) v1alpha1.Status
}

const (
	// debounce is how long a burst of news is waited for.
	debounce = 200 * time.Millisecond
	// period is how often counters are written of a set, and how often it is looked
	// which revisions have changed, without any news.
	period = 10 * time.Second
	// The delays between attempts on one set: doubled with each failure, capped.
	firstRetry = debounce
	lastRetry  = time.Minute
)

// Writer writes the statuses of set objects. Its methods are safe for concurrent use.
type Writer struct {
	client   dynamic.Interface
	snapshot func() []Update
	clock    clock.Clock
	log      *slog.Logger
	news     chan struct{} // has a value when something may have changed

	running sync.Mutex     // one Run at a time
	known   map[Set]*state // guarded by running
}

// NewWriter returns a writer. It writes as the process itself. Snapshot lists all set
// objects that are to have a status; one that is not among them is forgotten, and
// nothing is written to it. Snapshot is called by the goroutine of [Writer.Run].
func NewWriter(client dynamic.Interface, snapshot func() []Update, clock clock.Clock, log *slog.Logger) *Writer {
	return &Writer{client: client, snapshot: snapshot, clock: clock, log: log, news: make(chan struct{}, 1)}
}

// Nudge says that a status may have changed. It never blocks.
func (w *Writer) Nudge() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// Run writes until the context is done, and is to be called while the process leads.
// It may be called again after it has returned: what it knew is forgotten then.
//
// Conditions are written at once, counters alone at most every ten seconds. Where a
// status says what it is to say, nothing is sent. What fails is tried again, ever more
// slowly, without holding up other sets.
func (w *Writer) Run(ctx context.Context) {
	w.running.Lock()
	defer w.running.Unlock()
	w.known = map[Set]*state{}
	for {
		next := w.round(ctx)
		timer := w.clock.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
			continue
		case <-w.news:
			timer.Stop()
		}
		if !w.settle(ctx) {
			return
		}
	}
}

// settle waits for a burst of news to end, and reports whether to go on.
func (w *Writer) settle(ctx context.Context) bool {
	timer := w.clock.NewTimer(debounce)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}
