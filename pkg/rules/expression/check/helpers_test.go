package check_test

import (
	"slices"
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/expression"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/check"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/typing"
)

// The types of small schemas.
var (
	text     = &schema.Type{Kinds: value.String}
	number   = &schema.Type{Kinds: value.Int}
	boolean  = &schema.Type{Kinds: value.Bool}
	instant  = &schema.Type{Kinds: value.String, Format: schema.DateTime}
	quantity = &schema.Type{Kinds: value.String | value.Number, Format: schema.Quantity}
	percent  = &schema.Type{Kinds: value.String | value.Int}
	labels   = &schema.Type{Kinds: value.Map, Map: &schema.Map{Values: text}}
)

type fields map[string]schema.Field

func mapping(f fields) *schema.Type {
	return &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: f}}
}

func listing(items *schema.Type) *schema.Type {
	return &schema.Type{Kinds: value.List, List: &schema.List{Items: items}}
}

func enum(values ...any) *schema.Type {
	t := &schema.Type{Limit: &schema.Limits{Enum: values}}
	for _, v := range values {
		t.Kinds |= value.KindOf(v)
	}
	return t
}

func maybe(t *schema.Type) schema.Field  { return schema.Field{Type: t} }
func must(t *schema.Type) schema.Field   { return schema.Field{Type: t, Required: true} }
func unzero(t *schema.Type) schema.Field { return schema.Field{Type: t, ZeroIsAbsent: true} }
func always(t *schema.Type) schema.Field { return schema.Field{Type: t, Always: true} }

var conditions = listing(mapping(fields{
	"type": must(text), "status": must(enum("True", "False", "Unknown")), "reason": maybe(text),
	"message": maybe(text), "lastTransitionTime": maybe(instant),
}))

var container = mapping(fields{
	"name": must(text), "image": maybe(text), "command": maybe(listing(text)),
	"imagePullPolicy": always(enum("Always", "IfNotPresent", "Never")),
	"ports": maybe(listing(mapping(fields{
		"name": maybe(text), "containerPort": must(number), "protocol": always(enum("TCP", "UDP")),
	}))),
	"resources": always(mapping(fields{
		"limits": maybe(&schema.Type{Kinds: value.Map, Map: &schema.Map{Values: quantity}}),
	})),
	"securityContext": maybe(mapping(fields{"privileged": maybe(boolean), "runAsUser": maybe(number)})),
})

// pod is like the one of Kubernetes.
var pod = object(fields{
	"spec": must(mapping(fields{
		"containers": must(listing(container)), "initContainers": maybe(listing(container)),
		"nodeName": unzero(text), "restartPolicy": always(enum("Always", "OnFailure", "Never")),
		"priority": maybe(number), "hostNetwork": unzero(boolean), "nodeSelector": maybe(labels),
		"securityContext": maybe(mapping(fields{"runAsNonRoot": maybe(boolean)})),
		"tolerations":     unzero(listing(mapping(fields{"key": maybe(text), "tolerationSeconds": maybe(number)}))),
	})),
	"status": maybe(mapping(fields{
		"phase": maybe(enum("Pending", "Running", "Succeeded", "Failed", "Unknown")), "podIP": maybe(text),
		"podIPs": maybe(listing(mapping(fields{"ip": must(text)}))), "startTime": maybe(instant), "conditions": maybe(conditions),
	})),
})

var component = mapping(fields{
	"replicas": must(number), "image": maybe(text), "version": maybe(text), "storage": maybe(quantity),
	"config": maybe(schema.Open()), "maxUnavailable": maybe(percent), "paused": always(boolean),
	"mode":     maybe(enum("Normal", "Maintenance")),
	"template": maybe(mapping(fields{"metadata": maybe(mapping(fields{"labels": maybe(labels)}))})),
})

// cluster is like a custom resource.
var cluster = object(fields{
	"spec": must(mapping(fields{
		"pd": must(component), "tikv": maybe(component), "tidb": maybe(component), "version": must(text),
		"timeout": maybe(text), "names": maybe(listing(text)), "sizes": maybe(listing(number)), "ratio": maybe(&schema.Type{Kinds: value.Number}),
		"nodes": maybe(listing(component)), "enabled": maybe(boolean), "flags": maybe(&schema.Type{Kinds: value.Map, Map: &schema.Map{Values: boolean}}),
	})),
	"status": maybe(mapping(fields{
		"ready": maybe(number), "conditions": maybe(conditions), "since": maybe(instant), "leader": maybe(mapping(fields{"name": must(text), "epoch": maybe(number)})),
	})),
})

func object(f fields) *schema.Type {
	f["apiVersion"], f["kind"], f["metadata"] = maybe(text), maybe(text), maybe(schema.Metadata())
	t := mapping(f)
	t.Object = true
	return t
}

// world is the names that expressions of the tests use.
type world struct {
	order []string
	types map[string]typing.Type
	lets  map[string]*expression.Program
	scope *expression.Scope
	// known are the types of lets where facts hold.
	known map[use]typing.Type
}

type use struct {
	slot  int
	facts *typing.Facts
}

// newWorld has a watched object, what with would find, and lets.
func newWorld(tb testing.TB, watched *schema.Type, lets ...string) *world {
	tb.Helper()
	w := &world{
		order: []string{"object", "params", "pods", "config", "anything", "other"},
		types: map[string]typing.Type{
			"object": typing.Object(watched),
			"params": typing.Constant(map[string]any{"least": int64(3), "zone": "UTC", "modes": []any{"Normal"}, "deep": map[string]any{"a": int64(1)}}),
			"pods":   typing.List(typing.Object(pod)), "config": typing.Object(nil).Nilable(), "anything": typing.Unknown(),
			"other": typing.Object(cluster).Nilable(),
		},
		lets: map[string]*expression.Program{}, known: map[use]typing.Type{},
	}
	for i := 0; i < len(lets); i += 2 {
		w.order = append(w.order, lets[i])
	}
	w.scope = expression.NewScope(w.order...)
	for i := 0; i < len(lets); i += 2 {
		p, err := expression.Compile(lets[i+1], w.scope)
		if err != nil {
			tb.Fatalf("%s: %v", lets[i+1], err)
		}
		w.lets[lets[i]] = p
	}
	return w
}

func (w *world) Type(slot int, facts *typing.Facts) typing.Type {
	name := w.order[slot]
	p := w.lets[name]
	if p == nil {
		return w.types[name]
	}
	t, known := w.known[use{slot, facts}]
	if !known {
		t, _ = check.Program(p, w, facts)
		w.known[use{slot, facts}] = t
	}
	return t
}

func (w *world) Definition(slot int) *expression.Program { return w.lets[w.order[slot]] }

// compiled compiles an expression with the names of the world.
func (w *world) compiled(tb testing.TB, source string) *expression.Program {
	tb.Helper()
	p, err := expression.Compile(source, w.scope)
	if err != nil {
		tb.Fatalf("%s: %v", source, err)
	}
	return p
}

// checked checks an expression where other conditions hold.
func (w *world) checked(tb testing.TB, source string, conditions ...string) (typing.Type, []*expression.Error) {
	tb.Helper()
	var facts *typing.Facts
	for _, condition := range conditions {
		facts, _ = check.Condition(w.compiled(tb, condition), w, facts)
	}
	t, errs := check.Program(w.compiled(tb, source), w, facts)
	return t, slices.Clip(errs)
}
