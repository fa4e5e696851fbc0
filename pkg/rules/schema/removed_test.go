package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRemoved(t *testing.T) {
	const of = `{spec: {containers: {items: {name!: text, env: {items: {name!: text, value: text}, by: [name]}}, by: [name]},
		ports: {items: {port!: int, protocol=TCP: text}, by: [port, protocol]}, names: {items: text, set: true}, plain: {items: text}}}`
	tests := map[string]struct {
		reason, before, now string
		want                []string
	}{
		"Element":   {"An element is gone.", `{spec: {containers: [{name: a}, {name: b}]}}`, `{spec: {containers: [{name: b}]}}`, []string{"spec.containers[name=a]"}},
		"Within":    {"One within an element that stays.", `{spec: {containers: [{name: a, env: [{name: A}, {name: B}]}]}}`, `{spec: {containers: [{name: c}, {name: a, env: [{name: B, value: x}]}]}}`, []string{"spec.containers[name=a].env[name=A]"}},
		"Keys":      {"All keys tell, defaults too.", `{spec: {ports: [{port: 53}, {port: 53, protocol: UDP}]}}`, `{spec: {ports: [{port: 53, protocol: TCP}]}}`, []string{"spec.ports[port=53,protocol=UDP]"}},
		"Set":       {"An element of a set.", `{spec: {names: [a, b]}}`, `{spec: {names: [b]}}`, []string{"spec.names[a]"}},
		"List":      {"The list as a whole.", `{spec: {names: [a, b]}}`, `{spec: {}}`, []string{"spec.names"}},
		"Plain":     {"Nothing tells the elements of a plain list apart.", `{spec: {plain: [a, b]}}`, `{spec: {plain: [b]}}`, nil},
		"Reordered": {"The order does not matter.", `{spec: {containers: [{name: a}, {name: b}]}}`, `{spec: {containers: [{name: b}, {name: a}, {name: c}]}}`, nil},
		"Strange":   {"What is of another kind is not looked into.", `{spec: {containers: [3, {}], ports: 5}}`, `{spec: 3}`, []string{"spec.containers"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, typeOf(t, of).Removed(parse(t, tc.before), parse(t, tc.now))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
