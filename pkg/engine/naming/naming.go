// Package naming chooses the names of objects that have a generateName. The API server would choose another one each time; a name
// that was chosen before is sent again when an answer was lost, so that no second object is made.
package naming

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"

	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// SuffixLength is how many characters the API server adds to a generateName.
const SuffixLength = 5

// Random makes a name of a generateName as the API server does.
func Random(prefix string) string { return Join(prefix, rand.String(SuffixLength)) }

// Join makes a name of a generateName, which it cuts if it is too long, and a suffix.
func Join(prefix, suffix string) string {
	return prefix[:min(len(prefix), validation.DNS1123LabelMaxLength-SuffixLength)] + suffix
}

// Prefix is the generateName of the object that an operation creates, empty where that has a name.
func Prefix(o plan.Operation) string {
	fields, _ := o.Body.(map[string]any)
	if o.Type != plan.Create || plan.Text(fields, "metadata", "name") != "" {
		return ""
	}
	return plan.Text(fields, "metadata", "generateName")
}

// With returns an operation that creates its object under a name.
func With(o plan.Operation, name string) plan.Operation {
	fields, _ := o.Body.(map[string]any)
	metadata, _ := fields["metadata"].(map[string]any)
	metadata, fields = maps.Clone(metadata), maps.Clone(fields)
	metadata["name"] = name
	fields["metadata"] = metadata
	o.Body, o.Target.Name = fields, name
	return o
}

// undecided is how long after it was sent a request may make an object, at most: an API server ends requests after a minute, unless it is
// told otherwise.
const undecided = 10 * time.Minute

// Sent are the names under which objects were to be made, as long as it is not known what became of the requests. The engines of a process
// share it: a request of one engine may arrive when another one runs the rule. It is safe for concurrent use.
type Sent struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	names map[Request][]named // guarded by mu, the oldest name first
	clean time.Time           // when those that are too old are dropped; guarded by mu
}

// named is a name, and when it was sent last.
type named struct {
	name string
	at   time.Time
}

// NewSent returns one without names.
func NewSent(clock clock.PassiveClock) *Sent {
	return &Sent{clock: clock, names: map[Request][]named{}}
}

// Request is a rule that makes objects for a watched one. Those with one generateName are alike.
type Request struct {
	Asker     types.UID // the watched object
	Rule      plan.Rule
	GVR       schema.GroupVersionResource
	Namespace string
	Prefix    string // the generateName
}

// RequestOf is that of an operation which creates an object. It has no Prefix where the object has a name.
func RequestOf(asker types.UID, o plan.Operation) Request {
	return Request{asker, o.Rules[0], o.Target.GVR, o.Target.Namespace, Prefix(o)}
}

// Names returns those that were sent, the oldest first.
func (s *Sent) Names(of Request) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.names[of] {
		if s.clock.Since(known.at) < undecided {
			out = append(out, known.name)
		}
	}
	return out
}

// Add notes a name that is about to be sent.
func (s *Sent) Add(of Request, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if !now.Before(s.clean) {
		s.clean = now.Add(undecided)
		maps.DeleteFunc(s.names, func(_ Request, known []named) bool {
			return !slices.ContainsFunc(known, func(n named) bool { return now.Sub(n.at) < undecided })
		})
	}
	known := s.names[of]
	if i := slices.IndexFunc(known, func(n named) bool { return n.name == name }); i >= 0 {
		known[i].at = now
		return
	}
	s.names[of] = append(known, named{name, now})
}

// Remove drops a name: it is known what became of it.
func (s *Sent) Remove(of Request, name string) {
	if of.Prefix == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names[of] = slices.DeleteFunc(s.names[of], func(n named) bool { return n.name == name }); len(s.names[of]) == 0 {
		delete(s.names, of)
	}
}
