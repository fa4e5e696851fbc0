package main

import (
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sample is a kind of which the tests know all defaults.
type sample struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec sampleSpec `json:"spec,omitempty"`
}

type sampleSpec struct {
	Strategy  string        `json:"strategy,omitempty"`
	Rolling   *sampleMember `json:"rolling,omitempty"`
	Fixed     *int32        `json:"fixed,omitempty"`
	Sometimes *int32        `json:"sometimes,omitempty"`
	Copied    string        `json:"copied,omitempty"`
	Name      string        `json:"name"`
	Group     string        `json:"group"`
	Flag      bool          `json:"flag,omitempty"`
	Kept      *bool         `json:"kept,omitempty"`
	List      []string      `json:"list"`
	Time      metav1.Time   `json:"time,omitempty,omitzero"`
	Self      *sampleSpec   `json:"self,omitempty"`
}

type sampleMember struct {
	Surge *int32 `json:"surge,omitempty"`
}

func (sampleSpec) OpenAPIModelName() string   { return "Spec" }
func (sampleMember) OpenAPIModelName() string { return "Member" }

// setDefaults does what Kubernetes does in many places.
func setDefaults(made any) {
	o, ok := made.(*sample)
	if !ok {
		return
	}
	spec := &o.Spec
	if spec.Fixed == nil {
		spec.Fixed = new(int32(7))
	}
	if spec.Sometimes == nil && !spec.Flag {
		spec.Sometimes = new(int32(1))
	}
	if spec.Copied == "" {
		spec.Copied = "of " + spec.Name
	}
	if spec.Group == "" {
		spec.Group = "g"
	}
	if spec.Strategy == "" {
		spec.Strategy = "Rolling"
	}
	if spec.Strategy == "Rolling" && spec.Rolling != nil && spec.Rolling.Surge == nil {
		spec.Rolling.Surge = new(int32(2))
	}
}

func TestSurvey(t *testing.T) {
	t.Parallel()
	w := &world{enums: map[string]map[string][]string{"Spec": {"strategy": {"Recreate", "Rolling"}}}}
	s := newSurvey(w, map[string][]string{"Spec": {"name", "group"}})
	s.kind(root{typ: reflect.TypeFor[sample](), applyTo: setDefaults})
	tests := []struct{ model, field, want, reason string }{
		{"Spec", "fixed", "always 7", "a constant"},
		{"Spec", "sometimes", "", "not with the flag"},
		{"Spec", "copied", "always", "what it is depends on the name"},
		{"Spec", "strategy", "always \"Rolling\"", "an enumeration"},
		{"Spec", "rolling", "", "nobody makes it"},
		{"Spec", "name", "mandatory always \"\"", "must be written; without omitempty it is there anyway"},
		{"Spec", "group", "always \"g\"", "called required, yet defaulted"},
		{"Spec", "flag", "", "false is left out"},
		{"Spec", "list", "", "null is nothing"},
		{"Spec", "time", "", "no time is left out"},
		{"Member", "surge", "always 2", "the member of the union that its discriminator names: other values do not count"},
	}
	for _, tt := range tests {
		seen := s.found[tt.model][tt.field]
		if seen == nil {
			t.Fatalf("%s.%s was not looked at", tt.model, tt.field)
		}
		if got := summary(s, tt.model, tt.field, seen); got != tt.want {
			t.Errorf("%s.%s: got %q, want %q: %s", tt.model, tt.field, got, tt.want, tt.reason)
		}
	}
}

func summary(s *survey, model, name string, seen *finding) string {
	var words []string
	for _, f := range fieldsOf(s.types[model]) {
		if f.name == name && s.mandatory(model, f) {
			words = append(words, "mandatory")
		}
	}
	if seen.always {
		words = append(words, "always")
		if seen.same {
			words = append(words, seen.value)
		}
	}
	return strings.Join(words, " ")
}

func TestZeroIsAbsent(t *testing.T) {
	t.Parallel()
	want := map[string]bool{
		"strategy": true, "flag": true, "copied": true, "list": true, // The last is null, and that is nothing.
		"name": false, "kept": false, "fixed": false, "rolling": false, "time": false,
	}
	for _, f := range fieldsOf(reflect.TypeFor[sampleSpec]()) {
		if absent, asked := want[f.name]; asked && f.zeroIsAbsent() != absent {
			t.Errorf("%s: got %t, want %t", f.name, !absent, absent)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	var got []string
	for _, p := range places(root{typ: reflect.TypeFor[sample]()}, func(reflect.Type) {}) {
		var names []string
		for _, s := range p {
			names = append(names, s.name)
		}
		got = append(got, strings.Join(names, "."))
	}
	if want := []string{"", "spec", "spec.rolling"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q: what contains itself is gone into once", got, want)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	e := &emitter{to: map[string]object{}, names: map[string]map[string]string{}}
	for _, tt := range []struct{ root, written, want, reason string }{
		{"api.Job", "a", "Spec", "the first has the name"},
		{"api.Pod", "a", "Spec", "the same again"},
		{"api.CronJob", "b", "Spec.CronJob", "another form"},
		{"api.CronJob", "b", "Spec.CronJob", "of which there is one"},
	} {
		w := &writing{emitter: e, root: tt.root}
		if got := w.place("Spec", tt.written, object{}); got != tt.want {
			t.Errorf("%s in %s: got %s, want %s: %s", tt.written, tt.root, got, tt.want, tt.reason)
		}
	}
	if len(e.to) != 2 {
		t.Errorf("got %d schemas, want 2", len(e.to))
	}
}
