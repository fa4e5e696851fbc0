package builtin_test

import "testing"

// TestFieldSelectors holds that kinds are selected by the fields by which a real API
// server selects them, and by no others.
func TestFieldSelectors(t *testing.T) {
	c := newCluster(t)
	c.run(pods, []step{
		{reason: "two pods", ask: "POST ", kind: asJSON, code: 201, body: `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"one"}}`},
		{reason: "two pods", ask: "POST ", kind: asJSON, code: 201, body: `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i"}],"nodeName":"two","hostNetwork":true}}`},
		{reason: "by a text", ask: "GET ?fieldSelector=spec.nodeName%3Done", code: 200, want: map[string]string{"items.0.metadata.name": "a", "items.1": ""}},
		{reason: "by what it is not", ask: "GET ?fieldSelector=spec.nodeName%21%3Done", code: 200, want: map[string]string{"items.0.metadata.name": "b", "items.1": ""}},
		{reason: "by a boolean", ask: "GET ?fieldSelector=spec.hostNetwork%3Dtrue", code: 200, want: map[string]string{"items.0.metadata.name": "b", "items.1": ""}},
		{reason: "false is there without being written", ask: "GET ?fieldSelector=spec.hostNetwork%3Dfalse", code: 200, want: map[string]string{"items.0.metadata.name": "a", "items.1": ""}},
		{reason: "by two", ask: "GET ?fieldSelector=spec.nodeName%3Dtwo,metadata.name%3Db", code: 200, want: map[string]string{"items.0.metadata.name": "b"}},
		{reason: "by no other field", ask: "GET ?fieldSelector=spec.priority%3D1", code: 400, want: map[string]string{"message": "field label not supported: spec.priority"}},
	})
	c.run("/api/v1/namespaces/n/secrets", []step{
		{reason: "a secret", ask: "POST ", kind: asJSON, code: 201, body: `{"metadata":{"name":"a"},"type":"t"}`},
		{reason: "a field at the top", ask: "GET ?fieldSelector=type%3Dt", code: 200, want: map[string]string{"items.0.metadata.name": "a"}},
		{reason: "another value", ask: "GET ?fieldSelector=type%3Du", code: 200, want: map[string]string{"items.0": ""}},
	})
	c.run("/api/v1/secrets", []step{
		{reason: "a name in all namespaces", ask: "GET ?fieldSelector=metadata.name%3Da", code: 200, want: map[string]string{"items.0.metadata.name": "a", "items.1": ""}},
		{reason: "another name", ask: "GET ?fieldSelector=metadata.name%3Db", code: 200, want: map[string]string{"items.0": ""}},
		{reason: "no object", ask: "GET /a", code: 404},
	})
	c.run(configMaps, []step{
		{reason: "what all kinds have", ask: "GET ?fieldSelector=metadata.namespace%3Dn", code: 200},
		{reason: "nothing else", ask: "GET ?fieldSelector=data.a%3Db", code: 400},
	})
}
