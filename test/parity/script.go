package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

//go:embed scenarios/*.yaml
var files embed.FS

// book is a file of scenarios: from themes and moves, which are names of steps, scenarios are put together.
type book struct {
	Bases map[string]object
	Steps map[string][]act
	// Themes begin a scenario, and are by the moves that may follow: "whole" none, "any" any, "alike" those that need Pods
	// which are alike, too, as long as no move has been of "mixing".
	Themes, Moves map[string][]string
}

// act is one of these. In all texts of For, # stands for its number; in those of Pods, for the place of the Pod.
type act struct {
	Create *struct {
		Base, Owner string // The owner is KIND/NAME.
		With        object
	}
	Patch *struct {
		Object, Sub string
		With        object
	}
	Delete *struct {
		Object string
		How    *metav1.DeletionPropagation
	}
	Pods   *chosen
	Finish bool
	Wait   metav1.Duration
	For    []int
	Do     []act
}

// chosen are Pods to which something happens: those of a controller that are active, by default of the one that all is about.
type chosen struct {
	Of, Label, Name string // or by the label "app", or by the name
	Take            int    // the first
	Half            bool   // The first half is this; the others run and are ready for an hour.
	Node            string
	Is              *state
	With            object // merged into them
	Delete          bool
}

// step is what happens before all is quiet again.
type step struct {
	say  string
	do   func(*place)
	wait time.Duration // at least, before it counts as quiet
}

// readBook reads the scenarios of an example.
func readBook(name string) (b book, err error) {
	data, err := files.ReadFile("scenarios/" + name + ".yaml")
	if err != nil {
		return b, err
	}
	return b, yaml.UnmarshalStrict(data, &b)
}

// scenario is that of a number, which is the same each time.
func (b book) scenario(number int) ([]step, error) {
	r := rand.New(rand.NewPCG(uint64(number), 0))
	var kinds, themes []string
	for _, kind := range []string{"alike", "mixed", "any", "whole"} {
		for _, theme := range b.Themes[kind] {
			kinds, themes = append(kinds, kind), append(themes, theme)
		}
	}
	kind, names := kinds[number%len(kinds)], strings.Split(themes[number%len(kinds)], "; ")
	for range 1 + r.IntN(3) {
		moves := b.Moves["any"]
		switch kind {
		case "whole":
			continue
		case "alike":
			moves = slices.Concat(moves, b.Moves["alike"], b.Moves["mixing"])
		}
		i := r.IntN(len(moves))
		if i >= len(b.Moves["any"])+len(b.Moves["alike"]) {
			kind = "mixed"
		}
		names = append(names, strings.Split(moves[i], "; ")...)
	}
	var steps []step
	for i, name := range names {
		acts, is := b.Steps[name]
		if !is {
			return nil, fmt.Errorf("there is no step %q", name)
		}
		one := step{say: name, do: func(p *place) {
			for _, a := range acts {
				p.act(b, a, time.Hour-time.Duration(i)*time.Minute)
			}
		}}
		for _, a := range acts {
			one.wait = max(one.wait, a.Wait.Duration)
		}
		steps = append(steps, one)
	}
	return steps, nil
}

// act does something. Before is how long ago that was which has happened before.
func (p *place) act(b book, a act, before time.Duration) {
	for _, i := range a.For {
		for _, one := range a.Do {
			p.act(b, numbered(one, i), before)
		}
	}
	switch {
	case a.Create != nil:
		o := merged(b.Bases[a.Create.Base], a.Create.With)
		if a.Create.Owner != "" {
			o = merged(o, object{"metadata": object{"ownerReferences": p.controller(a.Create.Owner)}})
		}
		p.create(plural(o), o)
	case a.Patch != nil:
		p.patch(a.Patch.Object, a.Patch.With, a.Patch.Sub)
	case a.Delete != nil:
		p.delete(a.Delete.Object, metav1.DeleteOptions{PropagationPolicy: a.Delete.How})
	case a.Pods != nil:
		p.choose(*a.Pods, before)
	case a.Finish:
		p.finish()
	}
}

func (p *place) choose(c chosen, before time.Duration) {
	var pods []*unstructured.Unstructured
	switch {
	case c.Name != "":
		pods = p.get("pods/" + c.Name)
	case c.Label != "":
		pods = p.pods(func(o *unstructured.Unstructured) bool { return o.GetLabels()["app"] == c.Label })
	default:
		pods = p.active(cmp.Or(c.Of, "web"))
	}
	if c.Take > 0 {
		pods = pods[:min(c.Take, len(pods))]
	}
	now := time.Now() // One for all, or times would rank Pods that are meant to be alike.
	for i, pod := range pods {
		one, name := numbered(c, i), "pods/"+pod.GetName()
		if c.Half && i >= len(pods)/2 {
			one.Is = &state{Ready: true, Since: metav1.Duration{Duration: time.Hour}}
		}
		if one.Is != nil {
			if one.Is.Before {
				one.Is.Since.Duration = before
			}
			p.report(pod, cmp.Or(one.Node, "node-1"), *one.Is, now)
		}
		if one.With != nil {
			p.patch(name, one.With, "")
		}
		if one.Delete {
			p.delete(name, metav1.DeleteOptions{})
		}
	}
}

// numbered has a number instead of # in all texts.
func numbered[T any](of T, i int) (out T) {
	if json.Unmarshal([]byte(strings.ReplaceAll(text(of), "#", strconv.Itoa(i))), &out) != nil {
		return of
	}
	return out
}

func merged(base, with object) (out object) {
	if with == nil {
		return base
	}
	data, err := jsonpatch.MergePatch([]byte(text(base)), []byte(text(with)))
	if err != nil || json.Unmarshal(data, &out) != nil {
		return base
	}
	return out
}

// plural is the resource of an object.
func plural(o object) string {
	kind, _ := o["kind"].(string)
	return strings.TrimSuffix(strings.ToLower(kind), "s") + "s"
}
