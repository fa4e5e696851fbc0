package inventory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dyncontroller/dyncontroller/pkg/api/v1alpha1"
	"github.com/dyncontroller/dyncontroller/pkg/engine/limit"
	"github.com/dyncontroller/dyncontroller/pkg/plan"
)

// formatVersion is of the stored form. A program refuses what a later one has
// written: it would not know what to clean up.
const formatVersion = 1

// page is what is stored of a set.
type page struct {
	Version   int     `json:"version"`
	Leftovers []entry `json:"leftovers"`
	Paused    []pause `json:"paused,omitempty"`
	Counted   []count `json:"counted,omitempty"`
}

// count is a count as it is stored.
type count struct {
	SetKind      string `json:"setKind"`
	SetNamespace string `json:"setNamespace,omitempty"`
	Set          string `json:"set"`
	v1alpha1.Count
}

// pause is a pause as it is stored.
type pause struct {
	SetKind      string `json:"setKind"`
	SetNamespace string `json:"setNamespace,omitempty"`
	Set          string `json:"set"`
	v1alpha1.Pause
}

// entry is a leftover as it is stored.
type entry struct {
	SetKind      string             `json:"setKind"`
	SetNamespace string             `json:"setNamespace,omitempty"`
	Set          string             `json:"set"`
	Rule         string             `json:"rule"`
	Kind         plan.LeftoverKind  `json:"kind"`
	Group        string             `json:"group,omitempty"`
	Version      string             `json:"version"`
	Resource     string             `json:"resource"`
	Namespace    string             `json:"namespace,omitempty"`
	Release      plan.ReleasePolicy `json:"release,omitempty"`
	Prune        bool               `json:"prune,omitempty"`

	ServiceAccount          string `json:"serviceAccount,omitempty"`
	ServiceAccountNamespace string `json:"serviceAccountNamespace,omitempty"`
}

func entryOf(l plan.Leftover) entry {
	return entry{
		SetKind: l.Rule.Kind, SetNamespace: l.Rule.Namespace, Set: l.Rule.Set, Rule: l.Rule.Name, Kind: l.Kind,
		Group: l.GVR.Group, Version: l.GVR.Version, Resource: l.GVR.Resource, Namespace: l.Namespace,
		Release: l.Release, Prune: l.Prune,
		ServiceAccount: l.Account.Name, ServiceAccountNamespace: l.Account.Namespace,
	}
}

func (e entry) leftover() plan.Leftover {
	return plan.Leftover{
		Rule:      plan.Rule{Kind: e.SetKind, Namespace: e.SetNamespace, Set: e.Set, Name: e.Rule},
		GVR:       schema.GroupVersionResource{Group: e.Group, Version: e.Version, Resource: e.Resource},
		Namespace: e.Namespace, Kind: e.Kind, Release: e.Release, Prune: e.Prune,
		Account: types.NamespacedName{Namespace: e.ServiceAccountNamespace, Name: e.ServiceAccount},
	}
}

// encode returns the text of each set, by its id. The same book has the same texts.
func encode(b Book) (map[string]string, error) {
	out := map[string]string{}
	for id, of := range b.sets() {
		p := page{Version: formatVersion, Leftovers: []entry{}}
		for _, l := range of.leftovers {
			p.Leftovers = append(p.Leftovers, entryOf(l))
		}
		for _, one := range of.pauses {
			set := one.Rule.OfSet()
			p.Paused = append(p.Paused, pause{SetKind: set.Kind, SetNamespace: set.Namespace, Set: set.Set, Pause: encodePause(one)})
		}
		for _, one := range of.counts {
			set := one.Rule.OfSet()
			p.Counted = append(p.Counted, count{SetKind: set.Kind, SetNamespace: set.Namespace, Set: set.Set, Count: encodeCount(one)})
		}
		data, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encoding what the set %s left: %w", id, err)
		}
		out[id] = string(data)
	}
	return out, nil
}

// decode reads what encode has written. It is an error not to understand a part:
// what is not known cannot be cleaned up, and would be forgotten.
func decode(texts map[string]string) (Book, error) {
	var all []plan.Leftover
	var pauses []limit.Pause
	var counts []limit.Count
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		p, err := decodePage(id, texts[id])
		if err != nil {
			return Book{}, fmt.Errorf("key %q: %w", id, err)
		}
		for _, e := range p.Leftovers {
			all = append(all, e.leftover())
		}
		for _, one := range p.Paused {
			pauses = append(pauses, decodePause(one.set(), one.Pause))
		}
		for _, one := range p.Counted {
			counts = append(counts, decodeCount(plan.Rule{Kind: one.SetKind, Namespace: one.SetNamespace, Set: one.Set}, one.Count))
		}
	}
	return NewBook(all...).Pausing(pauses...).Counting(counts...), nil
}

func decodePage(id, text string) (page, error) {
	var p page
	if len(text) > maxSize {
		return p, fmt.Errorf("it has %d bytes, more than the %d that a ConfigMap holds", len(text), maxSize)
	}
	var format struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal([]byte(text), &format); err != nil {
		return p, err
	}
	if format.Version != formatVersion {
		return p, fmt.Errorf("it is in format %d, and this program knows format %d", format.Version, formatVersion)
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return p, errors.New("there is more after the end")
	}
	for i, e := range p.Leftovers {
		if err := e.check(id); err != nil {
			return p, fmt.Errorf("leftover %d: %w", i, err)
		}
	}
	for i, one := range p.Paused {
		if err := checkPause(id, one.set(), one.Pause); err != nil {
			return p, fmt.Errorf("pause %d: %w", i, err)
		}
	}
	for i, one := range p.Counted {
		if set := (plan.Rule{Kind: one.SetKind, Namespace: one.SetNamespace, Set: one.Set}); set.SetID() != id {
			return p, fmt.Errorf("count %d: it is of the set %q, which has another key", i, one.Set)
		}
	}
	return p, nil
}

func (e entry) check(id string) error {
	switch {
	case e.leftover().Rule.SetID() != id:
		return fmt.Errorf("it is of the set %q, which has another key", e.Set)
	case e.SetKind == "" || e.Set == "" || e.Rule == "" || e.Version == "" || e.Resource == "":
		return errors.New("it lacks the rule or the resource")
	case !e.Kind.Known():
		return fmt.Errorf("there is no kind %q", e.Kind)
	case e.Release != "" && e.Release != plan.OrphanFields && e.Release != plan.RemoveFields:
		return fmt.Errorf("there is no policy %q", e.Release)
	case (e.ServiceAccount == "") != (e.ServiceAccountNamespace == ""):
		return errors.New("it has half the name of a ServiceAccount")
	default:
		return nil
	}
}
