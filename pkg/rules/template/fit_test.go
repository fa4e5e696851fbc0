package template_test

import (
	"testing"

	"github.com/dyncontroller/dyncontroller/pkg/rules/document"
	"github.com/dyncontroller/dyncontroller/pkg/rules/expression/value"
	"github.com/dyncontroller/dyncontroller/pkg/rules/schema"
	"github.com/dyncontroller/dyncontroller/pkg/rules/template"
)

// TestFit is about which values of expressions fit into which fields of the spec.
func TestFit(t *testing.T) {
	of, _ := gateway(t).Field("spec")
	testCheck(t, map[string]checkCase{
		"Same":          {"The same type.", `{replicas: "${object.spec.replicas}"}`, nil},
		"IntIsNumber":   {"An integer is a number.", `{weight: "${object.spec.replicas}"}`, nil},
		"IntOrString":   {"One of both is enough.", `{host: "${object.spec.port}"}`, nil},
		"MaybeNumber":   {"A number may be an integer.", `{replicas: "${object.spec.weight}"}`, nil},
		"IntToBool":     {"Of a number nobody knows what it means.", `{enabled: "${object.spec.replicas}"}`, []string{`type-mismatch b.yaml:1:11: enabled: want a boolean, have an integer`}},
		"MapToText":     {"", `{host: "${object.spec.selector}"}`, []string{`type-mismatch b.yaml:1:8: host: want a string, have a map; write toJSON(...), or join(...) for a list of strings`}},
		"MapToList":     {"", `{listeners: "${object.spec.limits}"}`, []string{`type-mismatch b.yaml:1:13: listeners: want a list, have a map; write [...] around it`}},
		"ListToMap":     {"", `{limits: "${object.spec.hosts}"}`, []string{`type-mismatch b.yaml:1:10: limits: want a map, have a list of strings`}},
		"Quantity":      {"A computed value becomes a text.", `{host: "${quantity('1Gi')}", until: "${timestamp('2026-01-01T00:00:00Z')}", window: "${duration('1h')}"}`, nil},
		"QuantityToInt": {"And no number.", `{replicas: "${quantity('1Gi')}"}`, []string{`type-mismatch b.yaml:1:12: replicas: want an integer, have a quantity; write int(...)`}},
		"SemverToInt":   {"Of which there is none.", `{replicas: "${semver('1.2.3')}"}`, []string{`type-mismatch b.yaml:1:12: replicas: want an integer, have a version`}},
		"Stamp":         {"A moment becomes a text.", `{until: "${object.spec.until ?? stamp()}"}`, nil},
		"Omitted":       {"What is omitted is not written.", `{replicas: "${omit()}"}`, nil},
		"Open":          {"In an open map anything goes.", `{options: {a: "${object.spec.host}"}, template: "${ {'a': 1} }"}`, nil},
		"OpenKnown":     {"But not in its known fields.", `{options: "${ {'level': 'high', 'other': 3} }"}`, []string{`type-mismatch b.yaml:1:25: options: level: want an integer, have a string`}},
		"BranchOfLet":   {"That of a let may be narrowed where the let is used.", `{class: "${pick}"}`, nil},
		"Element":       {"An element of a list may not be.", `{class: "${joined}"}`, nil},
		"Circle":        {"A circle ends.", `{class: "${circle}"}`, nil},
		"Enum":          {"Of an enum some values fit.", `{allowed: ["${object.spec.class}"]}`, []string{`not-in-enum b.yaml:1:12: allowed[0]: want "GET" or "POST", and this can be one of [public internal mesh]`}},
		"ListOfMaps":    {"Of maps the name is meant, mostly.", `{hosts: "${object.spec.listeners}"}`, []string{`type-mismatch b.yaml:1:9: hosts: each element: want a string, have a map; write map(list, .name)`}},
		"ListKept":      {"A list may be filtered.", `{hosts: "${filter(object.spec.hosts, # != 'a')}"}`, nil},
		"ListBuilt":     {"Elements that are built have fields.", `{listeners: "${map(object.spec.listeners, {{'port': .port, 'protocol': 'UDP'}})}"}`, []string{`not-in-enum b.yaml:1:13: listeners: each element: protocol: want "HTTP" or "TCP", have "UDP"`}},
		"ListMissing":   {"All that are required.", `{listeners: "${map(object.spec.listeners, {{'name': .name}})}"}`, []string{`missing-field b.yaml:1:13: listeners: each element: the field "port" is missing; add port: ...`}},
		"ListOfParams":  {"", `{hosts: "${params.hosts}"}`, nil},
		"EmptyList":     {"An empty list fits every list.", `{hosts: "${[]}"}`, nil},
		"MapBuilt": {"Every entry is compared, in order.", `{limits: "${ {'rate': 'b', 'connections': 'a'} }"}`, []string{
			`type-mismatch b.yaml:1:23: limits: rate: want an integer, have a string`, `type-mismatch b.yaml:1:43: limits: connections: want an integer, have a string`,
		}},
		"MapOfOthers":  {"No entry that it can have fits.", `{selector: "${object.spec.limits}"}`, []string{`type-mismatch b.yaml:1:12: selector: connections: want a string, have an integer`}},
		"MapOfSame":    {"The same fits.", `{limits: "${object.spec.limits}", selector: "${object.metadata.labels}"}`, nil},
		"MapElsewhere": {"A map of texts has none of the fields.", `{limits: "${object.metadata.labels}"}`, []string{`type-mismatch b.yaml:1:10: limits: want a map with other fields, have a map in which each value is a string; the fields here are connections, rate`}},
		"MapValues":    {"Entries whose key is not known are not.", `{selector: "${ {(object.metadata.name): 'a'} }"}`, nil},
		"Pattern":      {"A text of which nothing is known may match.", `{host: "${object.metadata.name}.example.com"}`, nil},
	}, func(b *template.Body, c template.Context) document.Errors {
		_, errs := b.Check(c, schema.Field{Type: of.Type}, schema.Merged)
		return errs
	})
}

// TestFitEndless compares with a schema that contains itself.
func TestFitEndless(t *testing.T) {
	endless := &schema.Type{Kinds: value.List}
	endless.List = &schema.List{Items: endless}
	testCheck(t, map[string]checkCase{
		"Deep":    {"Lists that are written out are followed to their end.", `"${[[[[[[[[[[[[[[object.spec.hosts]]]]]]]]]]]]]]}"`, []string{`type-mismatch b.yaml:1:18: each element: want a list, have a string`}},
		"Shallow": {"Until there is something else.", `"${[[object.spec.hosts]]}"`, []string{`type-mismatch b.yaml:1:6: each element: want a list, have a string`}},
	}, func(b *template.Body, c template.Context) document.Errors {
		_, errs := b.Check(c, schema.Field{Type: endless}, schema.Merged)
		return errs
	})
}

// TestFitCopied compares maps that are copied whole, entry by entry.
func TestFitCopied(t *testing.T) {
	integer, text := &schema.Type{Kinds: value.Int}, &schema.Type{Kinds: value.String}
	place := func(fields map[string]schema.Field) *schema.Type {
		return &schema.Type{Kinds: value.Map, Map: &schema.Map{Fields: fields}}
	}
	into := place(map[string]schema.Field{
		"less":  {Type: place(map[string]schema.Field{"rate": {Type: integer}})},
		"other": {Type: place(map[string]schema.Field{"rate": {Type: integer}, "connections": {Type: text}})},
		"more":  {Type: place(map[string]schema.Field{"rate": {Type: integer}, "connections": {Type: integer}, "burst": {Type: integer}})},
		"must":  {Type: place(map[string]schema.Field{"rate": {Type: integer}, "connections": {Type: integer}, "burst": {Type: integer, Required: true}})},
		"ports": {Type: place(map[string]schema.Field{"port": {Type: text}, "name": {Type: text}, "protocol": {Type: text}})},
		"text":  {Type: text}, "list": {Type: &schema.Type{Kinds: value.List, List: &schema.List{Items: text}}},
	})
	testCheck(t, map[string]checkCase{
		"More":     {"The place has all fields.", `{more: "${object.spec.limits}"}`, nil},
		"Less":     {"It lacks one that may be there.", `{less: "${object.spec.limits}"}`, []string{`unknown-field b.yaml:1:8: less: unknown field "connections"; pick(x, "rate") has the entries of x that are taken here`}},
		"Other":    {"It has one of another kind.", `{other: "${object.spec.limits}"}`, []string{`type-mismatch b.yaml:1:9: other: connections: want a string, have an integer; pick(x, "rate") has the entries of x that are taken here`}},
		"Must":     {"It needs one that is never there.", `{must: "${object.spec.limits}"}`, []string{`missing-field b.yaml:1:8: must: the field "burst" is missing; add burst: ...`}},
		"Required": {"One that is surely there does not fit.", `{ports: "${object.spec.listeners?.[0]}"}`, []string{`type-mismatch b.yaml:1:9: ports: port: want a string, have an integer; pick(x, "name", "protocol") has the entries of x that are taken here`}},
		"Picked":   {"The others fit.", `{less: "${pick(object.spec.limits, 'rate')}"}`, nil},
	}, func(b *template.Body, c template.Context) document.Errors {
		_, errs := b.Check(c, schema.Field{Type: into}, schema.Whole)
		return errs
	})
}
