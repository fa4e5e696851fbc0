package scenario

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dyncontroller/dyncontroller/pkg/engine"
)

// objects are all that a cluster has, without Events, which are told as such.
type objects map[string]map[string]any

func (s *Scenario) objects(ctx context.Context) (objects, error) {
	all, err := s.cluster.Objects(ctx)
	if err != nil {
		return nil, err
	}
	out := objects{}
	for _, o := range all {
		if o.GVR.Resource != "events" {
			out[nameOf(engine.Key{GVR: o.GVR, Namespace: o.GetNamespace(), Name: o.GetName()})] = shown(o.Unstructured)
		}
	}
	return out, nil
}

// shown is an object without what differs from one cluster to the next.
func shown(object *unstructured.Unstructured) map[string]any {
	out := maps.Clone(object.Object)
	metadata, _ := out["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	for _, key := range []string{"managedFields", "uid", "resourceVersion"} {
		delete(metadata, key)
	}
	out["metadata"] = metadata
	return out
}

// since lists what is not as it was, by name.
func (after objects) since(before objects) []Changed {
	var out []Changed
	for name, now := range after {
		if was, known := before[name]; !known || !reflect.DeepEqual(was, now) {
			out = append(out, Changed{Object: name, Now: now})
		}
	}
	for name := range before {
		if _, still := after[name]; !still {
			out = append(out, Changed{Object: name, Gone: true})
		}
	}
	slices.SortFunc(out, func(a, b Changed) int { return cmp.Compare(a.Object, b.Object) })
	return out
}

// patchOf is the JSON merge patch that makes an object of another.
func patchOf(before, after map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range after {
		was, known := before[key]
		old, isMap := was.(map[string]any)
		fields, areMaps := value.(map[string]any)
		switch {
		case known && reflect.DeepEqual(was, value):
		case isMap && areMaps:
			out[key] = patchOf(old, fields)
		default:
			out[key] = value
		}
	}
	for key := range before {
		if _, still := after[key]; !still {
			out[key] = nil
		}
	}
	return out
}

// end ends a phase.
func (s *Scenario) end(ctx context.Context) error {
	now, err := s.objects(ctx)
	if err != nil {
		return err
	}
	phase := s.history.take()
	phase.Objects = now.since(s.before)
	for i := range phase.Objects {
		changed := &phase.Objects[i]
		if before := s.before[changed.Object]; s.patches && before != nil && !changed.Gone {
			changed.Patch, changed.Now = patchOf(before, changed.Now), nil
			if metadata, is := changed.Patch["metadata"].(map[string]any); is {
				if delete(metadata, "generation"); len(metadata) == 0 {
					delete(changed.Patch, "metadata")
				}
			}
		}
		if changed.Gone {
			s.history.forget(changed.Object)
		}
	}
	s.before = now
	for _, due := range s.engine.Due() {
		phase.LookAgainAt = append(phase.LookAgainAt, Look{Object: nameOf(due.Key), At: due.At.UTC().Format(time.RFC3339Nano)})
	}
	s.phases = append(s.phases, phase)
	s.states = append(s.states, state{now, slices.Sorted(maps.Keys(s.history.events))})
	return nil
}

// Phases takes the phases that have ended. The values of all Secrets that have been in
// the cluster by now are masked in them, also where they were shown before they became
// secret.
func (s *Scenario) Phases() []Phase {
	out := s.phases
	s.phases = nil
	for i := range out {
		s.secrets.hide(&out[i])
	}
	return out
}

// State is what all objects are at the end of a phase, by name, and which Events there
// were until then. It has what must not depend on the order in which objects are looked at.
type State map[string]any

// state is the same with what is not shown.
type state struct {
	objects objects
	events  []string
}

// States are those at the end of each phase.
func (s *Scenario) States() []State {
	out := make([]State, len(s.states))
	for i, is := range s.states {
		out[i] = s.shownState(is)
	}
	return out
}

func (s *Scenario) shownState(is state) State {
	out := State{}
	for name, object := range is.objects {
		fields := maps.Clone(object)
		metadata, _ := fields["metadata"].(map[string]any)
		metadata = maps.Clone(metadata)
		delete(metadata, "generation") // It counts changes, of which there may be more.
		fields["metadata"] = metadata
		out[s.secrets.text(name)] = s.secrets.body(name, fields)
	}
	events := make([]string, len(is.events))
	for i, event := range is.events {
		events[i] = s.secrets.text(event)
	}
	out["Events"] = events
	return out
}
