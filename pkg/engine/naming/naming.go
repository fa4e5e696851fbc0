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
	clock   clock.PassiveClock
	mu      sync.Mutex
	names   map[Origin][]*sent // guarded by mu, the oldest first
	cleanAt time.Time          // when those that are too old are dropped; guarded by mu
}

// sent is a request. Several may have one name.
type sent struct {
	name string
	at   time.Time
}

// NewSent returns one without names.
func NewSent(passive clock.PassiveClock) *Sent {
	return &Sent{clock: passive, names: map[Origin][]*sent{}}
}

// Origin is where an object comes from: a rule that makes objects with one generateName for a watched one.
type Origin struct {
	Asker     types.UID // the watched object
	Rule      plan.Rule
	GVR       schema.GroupVersionResource
	Namespace string
	Prefix    string // the generateName
}

// OriginOf is that of the object that an operation creates. It has no Prefix where the object has a name.
func OriginOf(asker types.UID, o plan.Operation) Origin {
	return Origin{asker, o.Rules[0], o.Target.GVR, o.Target.Namespace, Prefix(o)}
}

// Names returns those that were sent, the oldest first.
func (s *Sent) Names(of Origin) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.names[of] {
		if s.mayArrive(one) && !slices.Contains(out, one.name) {
			out = append(out, one.name)
		}
	}
	return out
}

// Sending notes a name that is about to be sent. The function that it returns is called when it is known what became of the request.
func (s *Sent) Sending(of Origin, name string) (answered func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.clock.Now(); !now.Before(s.cleanAt) {
		s.cleanAt = now.Add(undecided)
		for other := range s.names {
			s.drop(other, func(one *sent) bool { return !s.mayArrive(one) })
		}
	}
	this := &sent{name, s.clock.Now()}
	s.names[of] = append(s.names[of], this)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(of, func(one *sent) bool { return one == this })
	}
}

// Drop drops a name: another object has it.
func (s *Sent) Drop(of Origin, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(of, func(one *sent) bool { return one.name == name })
}

// mayArrive and drop are called with the lock held.
func (s *Sent) mayArrive(one *sent) bool { return s.clock.Since(one.at) < undecided }

func (s *Sent) drop(of Origin, which func(*sent) bool) {
	if s.names[of] = slices.DeleteFunc(s.names[of], which); len(s.names[of]) == 0 {
		delete(s.names, of)
	}
}
