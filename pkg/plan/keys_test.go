package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ports is the grain of objects of which all lists have the keys port and protocol, and the protocol is TCP by default.
type ports struct{}

func (ports) Below(string) Grain { return ports{} }
func (ports) Element() Grain     { return ports{} }
func (ports) WholeMap() bool     { return false }
func (ports) WholeList() bool    { return false }

func (ports) Key(element any) (map[string]any, bool) {
	fields, isMap := element.(map[string]any)
	pairs := map[string]any{"port": fields["port"], "protocol": "TCP"}
	if fields["protocol"] != nil {
		pairs["protocol"] = fields["protocol"]
	}
	return pairs, isMap
}

// TestDefaultedKeys holds that an element that a rule writes without a key is the one with the default of the key, and no other.
func TestDefaultedKeys(t *testing.T) {
	const (
		tcp  = `"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}}`
		udp  = `"k:{\"port\":80,\"protocol\":\"UDP\"}": {".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}}`
		both = tcp + `, ` + udp
		a, b = `{port: 80, name: a}`, `{port: 80, protocol: UDP, name: b}`
	)
	tests := map[string]struct {
		reason  string
		guess   bool   // the schema is not known
		owned   string // by the manager
		body    string
		kept    string // of what is owned
		applied bool   // nothing is left to do where the ports are both
	}{
		"both":           {reason: "Each is found by its own key.", owned: both, body: a + `, ` + b, kept: both, applied: true},
		"default":        {reason: "What has no protocol is the one with the default.", owned: both, body: a, kept: tcp},
		"other":          {reason: "What has another one is not.", owned: both, body: b, kept: udp},
		"default only":   {reason: "So it is where there is no other.", owned: tcp, body: a, kept: tcp, applied: true},
		"not the other":  {reason: "It is not the other one because that is all that there is.", owned: udp, body: `{port: 80, name: b}`},
		"null":           {reason: "Null is no key.", owned: both, body: `{port: 80, name: a, protocol: null}, ` + b, kept: both},
		"guess both":     {reason: "Without a schema the key that is there tells more than the one that is not.", guess: true, owned: both, body: a + `, ` + b, kept: both, applied: true},
		"guess default":  {reason: "Of one element it is taken to be the one.", guess: true, owned: tcp, body: a, kept: tcp, applied: true},
		"guess of three": {reason: "Of two that may be meant it is none.", guess: true, owned: tcp, body: a + `, {port: 80, name: c}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tree := func(elements string) map[string]any {
				return decode[map[string]any](t, `{"f:spec": {"f:ports": {`+elements+`}}}`)
			}
			body := decode[map[string]any](t, `{spec: {ports: [`+tc.body+`]}}`)
			current := decode[map[string]any](t, `{spec: {ports: [{port: 80, protocol: TCP, name: a}, `+b+`]}}`)
			current["metadata"] = map[string]any{"managedFields": []any{
				map[string]any{"manager": "ours", "operation": "Apply", "fieldsV1": tree(tc.owned)},
			}}
			o := Options{Grain: func(schema.GroupVersionResource, string) Grain { return ports{} }}
			if tc.guess {
				o.Grain = nil
			}
			if got, _ := kept(tree(tc.owned), body, o.grain(place{})); !cmp.Equal(tree(tc.kept), got) {
				t.Errorf("%s It keeps %s, want %s", tc.reason, encode(t, got), encode(t, tree(tc.kept)))
			}
			if got := o.isApplied(place{}, current, body, "ours"); got != tc.applied {
				t.Errorf("%s applied is %t, want %t", tc.reason, got, tc.applied)
			}
			operation := Operation{Type: Apply, Manager: "ours", Body: body, Grain: o.grain(place{})}
			if got, want := len(operation.GiveUp(current)) > 0, tc.kept != tc.owned; got != want {
				t.Errorf("%s something is given up: %t, want %t", tc.reason, got, want)
			}
			if common, _ := shared(tree(tc.owned), body, nil, o.grain(place{})); !cmp.Equal(tree(tc.kept), union(tree(""), common)) {
				t.Errorf("%s In common is %s, want %s", tc.reason, encode(t, common), encode(t, tree(tc.kept)))
			}
		})
	}
}

// TestDefaultedKeysConflict holds that two rules that write elements without a key conflict by what the API server makes of them.
func TestDefaultedKeysConflict(t *testing.T) {
	tests := map[string]struct {
		reason       string
		first, other string
		conflict     bool
	}{
		"same":    {"They write the same.", `a apply x {ports: [{port: 80, name: a}, {port: 80, protocol: UDP, name: b}]}`, `b merge x {ports: [{port: 80, name: a}, {port: 80, protocol: UDP, name: b}]}`, false},
		"default": {"It is the default that is written.", `a apply x {ports: [{port: 80, name: a}]}`, `b merge x {ports: [{port: 80, protocol: TCP, name: a}]}`, false},
		"other":   {"The patch would drop the element.", `a apply x {ports: [{port: 80, protocol: UDP, name: b}]}`, `b merge x {ports: [{port: 80, name: b}]}`, true},
		"json":    {"As would a JSON patch.", `a apply x {ports: [{port: 80, protocol: UDP, name: b}]}`, `b json x [{op: add, path: /ports, value: [{port: 80, name: b}]}]`, true},
		"applies": {"Both apply the same element.", `a apply x {ports: [{port: 80, name: a}]}`, `b apply x {ports: [{port: 80, protocol: TCP, name: b}]}`, true},
		"apart":   {"Each applies an element of its own.", `a apply x {ports: [{port: 80, name: a}]}`, `b apply x {ports: [{port: 80, protocol: UDP, name: b}]}`, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wishes := cluster{"x": `{metadata: {name: x}}`}.wishes(t, tc.first, tc.other)
			built := Build(wishes, Options{Grain: func(schema.GroupVersionResource, string) Grain { return ports{} }})
			if got := len(built.Decisions) > 0; got != tc.conflict {
				t.Errorf("%s They conflict: %t, want %t: %+v", tc.reason, got, tc.conflict, built.Decisions)
			}
		})
	}
}

// racks is the grain of objects whose field is an atomic list, the elements of which have lists as those of [ports].
type racks struct{ ports }

func (racks) Below(string) Grain { return rackList{} }

type rackList struct{ ports }

func (rackList) Below(string) Grain             { return nil } // A list has no fields.
func (rackList) WholeList() bool                { return true }
func (rackList) Key(any) (map[string]any, bool) { return nil, false }

// TestDefaultedKeysInList holds the same of a list in an element of an atomic list, to which a JSON patch leads by an index.
func TestDefaultedKeysInList(t *testing.T) {
	tests := map[string]struct {
		reason       string
		there, other string
		conflict     bool
	}{
		"merge same":  {"It is the element with the default.", `TCP`, `b merge x {racks: [{ports: [{port: 80, name: a}]}]}`, false},
		"merge other": {"The merge would drop the element that the patch names.", `UDP`, `b merge x {racks: [{ports: [{port: 80, name: a}]}]}`, true},
		"apply same":  {"An apply owns the list as a whole.", `TCP`, `b apply x {racks: [{ports: [{port: 80, name: a}]}]}`, false},
		"apply other": {"It would drop the element, too.", `UDP`, `b apply x {racks: [{ports: [{port: 80, name: a}]}]}`, true},
		"json same":   {"So does a JSON patch.", `TCP`, `b json x [{op: replace, path: /racks, value: [{ports: [{port: 80, name: a}]}]}]`, false},
		"json other":  {"So would a JSON patch.", `UDP`, `b json x [{op: replace, path: /racks, value: [{ports: [{port: 80, name: a}]}]}]`, true},
		"below other": {"The index is in the path of both.", `UDP`, `b json x [{op: replace, path: /racks/0/ports, value: [{port: 80, name: a}]}]`, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wishes := cluster{"x": `{metadata: {name: x}, racks: [{ports: [{port: 80, protocol: ` + tc.there + `, name: b}]}]}`}.wishes(t,
				`a json x [{op: replace, path: /racks/0/ports/0/name, value: a}]`, tc.other)
			built := Build(wishes, Options{Grain: func(schema.GroupVersionResource, string) Grain { return racks{} }})
			if got := len(built.Decisions) > 0; got != tc.conflict {
				t.Errorf("%s They conflict: %t, want %t: %+v", tc.reason, got, tc.conflict, built.Decisions)
			}
		})
	}
}
