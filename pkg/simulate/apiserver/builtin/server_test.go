package builtin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/endpoints/request"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver/builtin"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// Types of bodies.
const (
	asJSON    = "application/json"
	asMerge   = "application/merge-patch+json"
	asPatch   = "application/json-patch+json"
	asApply   = "application/apply-patch+yaml"
	wrongUID  = "00000000-0000-4000-8000-00000000abcd"
	noVersion = "metadata.resourceVersion"
)

// start is when the tests take place.
var start = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

// cluster is a world that is asked through the handlers.
type cluster struct {
	t     *testing.T
	kinds *builtin.Kinds
	world *storage.World
	// uid and version are those of the last object in an answer, before the version that
	// was different from it.
	uid, version, before string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return admitting(t, nil)
}

func admitting(t *testing.T, admit admission.Interface) *cluster {
	t.Helper()
	kinds, err := builtin.New(admit)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{t: t, kinds: kinds, world: storage.NewWorld(clocktesting.NewFakePassiveClock(start))}
}

// answer is what comes back.
type answer struct {
	code int
	body map[string]any
}

// ask sends a request; {uid}, {version} and {before} stand for what was answered last.
func (c *cluster) ask(method, path, kind, body string) answer {
	c.t.Helper()
	body = strings.NewReplacer("{uid}", c.uid, "{version}", c.version, "{before}", c.before).Replace(body)
	ctx := audit.WithAuditContext(storage.With(c.t.Context(), c.world))
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Accept", asJSON)
	r.Header.Set("User-Agent", "agent/1")
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	paths := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	info, err := paths.NewRequestInfo(r)
	if err != nil {
		c.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	c.kinds.ServeHTTP(w, r.WithContext(request.WithRequestInfo(ctx, info)))
	out := answer{code: w.Code}
	if err := json.Unmarshal(w.Body.Bytes(), &out.body); err != nil {
		c.t.Fatalf("%s %s: %v in %q", method, path, err, w.Body)
	}
	c.see(out)
	return out
}

func (c *cluster) see(a answer) {
	if uid := a.at("metadata.uid"); uid != "" {
		c.uid = uid
	}
	if version := a.at("metadata.resourceVersion"); version != "" && a.at("metadata.uid") != "" && version != c.version {
		c.before, c.version = c.version, version
	}
}

// at is the value at a path of fields and indexes, as text: "" where there is none, JSON
// where it is no scalar.
func (a answer) at(path string) string {
	var value any = a.body
	for step := range strings.SplitSeq(path, ".") {
		step = strings.ReplaceAll(step, "~", ".")
		switch in := value.(type) {
		case map[string]any:
			value = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(in) {
				return ""
			}
			value = in[i]
		default:
			return ""
		}
	}
	switch value := value.(type) {
	case nil:
		return ""
	case map[string]any, []any:
		text, err := json.Marshal(value)
		if err != nil {
			return err.Error()
		}
		return string(text)
	default:
		return fmt.Sprint(value)
	}
}

// step is a request, with what is answered to it.
type step struct {
	ask    string // the method and the path below that of the test
	kind   string
	body   string
	code   int
	want   map[string]string // by path; "" for nothing there
	reason string
}

// run takes the steps one after another.
func (c *cluster) run(base string, steps []step) {
	c.t.Helper()
	for i, s := range steps {
		method, path, _ := strings.Cut(s.ask, " ")
		got := c.ask(method, base+path, s.kind, s.body)
		if got.code != s.code {
			c.t.Errorf("step %d, %s: %s %s: got %d, want %d: %v", i, s.reason, s.ask, s.body, got.code, s.code, got.body)
		}
		for path, want := range s.want {
			if value := got.at(path); value != want {
				c.t.Errorf("step %d, %s: %s: %s is %q, want %q", i, s.reason, s.ask, path, value, want)
			}
		}
	}
}

const (
	configMaps  = "/api/v1/namespaces/n/configmaps"
	deployments = "/apis/apps/v1/namespaces/n/deployments"
	pods        = "/api/v1/namespaces/n/pods"
)

func TestGuards(t *testing.T) {
	t.Parallel()
	newCluster(t).run(configMaps, []step{
		{"GET /a", "", "", http.StatusNotFound, map[string]string{"reason": "NotFound", "message": `configmaps "a" not found`}, "there is nothing yet"},
		{"POST ?fieldManager=c", asJSON, `{"metadata":{"name":"a"},"data":{"k":"v"}}`, http.StatusCreated, map[string]string{
			"kind": "ConfigMap", "apiVersion": "v1", "metadata.creationTimestamp": "2026-01-02T03:04:05Z", "metadata.namespace": "n",
			"metadata.managedFields.0.manager": "c", "metadata.managedFields.0.time": "2026-01-02T03:04:05Z", "metadata.generation": "",
		}, "time and namespace are the world's"},
		{"POST ", asJSON, `{"metadata":{"name":"a"}}`, http.StatusConflict, map[string]string{"reason": "AlreadyExists"}, "there already"},
		{"PATCH /a", asMerge, `{"data":{"k":"w"}}`, http.StatusOK, map[string]string{"data.k": "w"}, "unguarded"},
		{"PATCH /a", asMerge, `{"metadata":{"resourceVersion":"{before}"}}`, http.StatusConflict, map[string]string{"reason": "Conflict"}, "stale"},
		{"PATCH /a", asMerge, `{"metadata":{"resourceVersion":"{version}","uid":"{uid}"},"data":{"k":"x"}}`, http.StatusOK, nil, "both right"},
		{"PATCH /a", asMerge, `{"metadata":{"uid":"` + wrongUID + `"}}`, http.StatusUnprocessableEntity, map[string]string{
			"reason": "Invalid", "details.causes.0.field": "metadata.uid", "details.causes.1": "",
		}, "a wrong uid alone is invalid, and said once"},
		{"PATCH /a", asMerge, `{"metadata":{"resourceVersion":"{version}","uid":"` + wrongUID + `"}}`, http.StatusUnprocessableEntity, nil, "the same with a version"},
		{"PATCH /a", asMerge, `{"metadata":{"resourceVersion":"{before}","uid":"` + wrongUID + `"}}`, http.StatusConflict, nil, "the version is looked at first"},
		{"PATCH /a", asMerge, `{"metadata":{"resourceVersion":""},"data":{"k":"y"}}`, http.StatusOK, nil, "no guard for built-in kinds"},
		{"PATCH /a", asMerge, `{"metadata":{"resourceVersion":"0"},"data":{"k":"z"}}`, http.StatusOK, nil, "nor is this"},
		{"PATCH /a", asMerge, `{"metadata":{"resourceVersion":"1"}}`, http.StatusConflict, nil, "this is"},
		{"PATCH /a", asPatch, `[{"op":"replace","path":"/metadata/resourceVersion","value":"{before}"}]`, http.StatusConflict, nil, "stale"},
		{"PATCH /a", asPatch, `[{"op":"replace","path":"/metadata/resourceVersion","value":"{version}"}]`, http.StatusOK, nil, "right"},
		{"PATCH /a", asPatch, `[{"op":"test","path":"/data/k","value":"no"}]`, http.StatusUnprocessableEntity, map[string]string{"reason": "Invalid"}, "a test fails"},
		{"DELETE /a", asJSON, `{"preconditions":{"uid":"` + wrongUID + `"}}`, http.StatusConflict, nil, "a wrong uid"},
		{"DELETE /a", asJSON, `{"preconditions":{"resourceVersion":"{before}"}}`, http.StatusConflict, nil, "stale"},
		{"DELETE /a", asJSON, `{"preconditions":{"resourceVersion":"{version}","uid":"{uid}"}}`, http.StatusOK, map[string]string{"kind": "Status", "status": "Success"}, "both right"},
		{"DELETE /a", "", "", http.StatusNotFound, nil, "gone"},
	})
}

func TestGuardIsNeeded(t *testing.T) {
	t.Parallel()
	newCluster(t).run("/apis/policy/v1/namespaces/n/poddisruptionbudgets", []step{
		{"POST ", asJSON, `{"metadata":{"name":"a"},"spec":{"minAvailable":1}}`, http.StatusCreated, map[string]string{"metadata.generation": "1"}, "new"},
		{"PATCH /a", asMerge, `{"spec":{"minAvailable":2}}`, http.StatusOK, map[string]string{"metadata.generation": "2"}, "patches have the version they read"},
		{
			"PATCH /a", asMerge, `{"metadata":{"resourceVersion":""},"spec":{"minAvailable":3}}`, http.StatusUnprocessableEntity,
			map[string]string{"details.causes.0.field": noVersion},
			"this kind needs a version",
		},
	})
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.ask("POST", configMaps, asJSON, `{"metadata":{"name":"a"},"data":{"k":"v"}}`)
	for _, again := range []struct{ kind, query, body string }{
		{asMerge, "", `{"data":{"k":"v"}}`},
		{asMerge, "", `{"nobody":"knows this"}`},
		{asPatch, "", `[{"op":"replace","path":"/data/k","value":"v"}]`},
	} {
		was := c.version
		if got := c.ask("PATCH", configMaps+"/a?fieldManager=agent"+again.query, again.kind, again.body); got.code != http.StatusOK || got.at(noVersion) != was {
			t.Errorf("%s: got %d and version %s, want that of before, %s", again.body, got.code, got.at(noVersion), was)
		}
	}
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}`
	was := c.ask("PATCH", configMaps+"/a?fieldManager=f", asApply, body).at(noVersion)
	if got := c.ask("PATCH", configMaps+"/a?fieldManager=f", asApply, body).at(noVersion); got != was {
		t.Errorf("the same was applied again: version %s, want that of before, %s", got, was)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	object := func(more string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"` + more + `}`
	}
	newCluster(t).run(configMaps, []step{
		{"PATCH /a?fieldManager=f", asApply, object(`,"uid":"`+wrongUID+`"`) + `}`, http.StatusConflict, nil, "a uid of nothing"},
		{"PATCH /a?fieldManager=f", asApply, object(`,"resourceVersion":"1"`) + `,"data":{"x":"1","y":"1"}}`, http.StatusCreated, nil, "create only"},
		{"PATCH /a?fieldManager=f", asApply, object(`,"resourceVersion":"1"`) + `,"data":{"x":"1","y":"1"}}`, http.StatusConflict, nil, "it is there now"},
		{"PATCH /a?fieldManager=g", asApply, object("") + `,"data":{"x":"2"}}`, http.StatusConflict, map[string]string{
			"details.causes.0.reason": "FieldManagerConflict", "details.causes.0.field": ".data.x",
			"message": `Apply failed with 1 conflict: conflict with "f": .data.x`,
		}, "owned by another"},
		{"PATCH /a?fieldManager=g", asApply, object(`,"resourceVersion":"1"`) + `,"data":{"x":"2"}}`, http.StatusConflict, map[string]string{
			"details.causes.0.reason": "FieldManagerConflict",
		}, "said before the stale version"},
		{"PATCH /a?fieldManager=g&force=true", asApply, object("") + `,"data":{"x":"2"}}`, http.StatusOK, map[string]string{"data.x": "2"}, "forced"},
		{"PATCH /a?fieldManager=f", asApply, object("") + `}`, http.StatusOK, map[string]string{"data.x": "2", "data.y": ""}, "y is given up and goes, x has another owner"},
		{"PATCH /a?fieldManager=f", asApply, object("") + `,"unknown":1}`, http.StatusInternalServerError, map[string]string{
			"message": "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .unknown: field not declared in schema", "reason": "",
		}, "no field of the kind"},
		{"PATCH /a", asApply, object("") + `}`, http.StatusUnprocessableEntity, nil, "without a manager"},
		{"PATCH /a?fieldManager=f", asApply, object(`,"uid":"`+wrongUID+`"`) + `}`, http.StatusUnprocessableEntity, nil, "a wrong uid"},
	})
}

func TestConflictWithUpdate(t *testing.T) {
	t.Parallel()
	newCluster(t).run(deployments, []step{
		{"POST ?fieldManager=c", asJSON, `{"metadata":{"name":"a"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},
			"template":{"spec":{"containers":[{"name":"x","image":"i"}]}}}}`, http.StatusCreated, nil, "new"},
		{
			"PATCH /a?fieldManager=f", asApply, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"replicas":2}}`, http.StatusConflict,
			map[string]string{"message": `Apply failed with 1 conflict: conflict with "c" using apps/v1: .spec.replicas`},
			"updates own too",
		},
		{
			"PATCH /a?fieldManager=f", asApply, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},
			"spec":{"template":{"spec":{"containers":[{"name":"y","image":"j"}]}}}}`, http.StatusOK,
			map[string]string{"spec.template.spec.containers.1.name": "y", "metadata.generation": "2"},
			"lists are merged by their keys",
		},
	})
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	tests := []struct{ body, field, reason string }{
		{`{"metadata":{"name":"b"}}`, "", "another name"},
		{`{"metadata":{"labels":{"bad key!":"v"}}}`, "metadata.labels", "a key of labels"},
		{`{"metadata":{"labels":{"k":"bad value!"}}}`, "metadata.labels", "a value of labels"},
		{`{"metadata":{"annotations":{"bad key!":"v"}}}`, "metadata.annotations", "a key of annotations"},
		{`{"metadata":{"finalizers":["nodomain"]}}`, "metadata.finalizers[0]", "a finalizer that is not Kubernetes' own"},
		{`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o"}]}}`, "metadata.ownerReferences[0].uid", "an owner without a uid"},
		{`{"metadata":{"deletionTimestamp":"2001-01-01T00:00:00Z"}}`, "metadata.deletionTimestamp", "nobody sets it"},
	}
	c := newCluster(t)
	c.ask("POST", configMaps, asJSON, `{"metadata":{"name":"a"}}`)
	for _, test := range tests {
		got := c.ask("PATCH", configMaps+"/a", asMerge, test.body)
		if got.code != http.StatusUnprocessableEntity && got.code != http.StatusBadRequest {
			t.Errorf("%s: got %d", test.reason, got.code)
		}
		if field := got.at("details.causes.0.field"); field != test.field || got.at("details.causes.1") != "" {
			t.Errorf("%s: %s is wrong, want %s, once: %v", test.reason, field, test.field, got.body)
		}
	}
	c.run(configMaps, []step{
		{
			"PATCH /a", asMerge, `{"metadata":{"creationTimestamp":"2001-01-01T00:00:00Z"}}`, http.StatusOK,
			map[string]string{"metadata.creationTimestamp": "2026-01-02T03:04:05Z"},
			"it stays",
		},
		{"PATCH /a", asMerge, `{"data":{"k":1}}`, http.StatusUnprocessableEntity, nil, "a wrong type"},
		{"PATCH /a", asMerge, `[`, http.StatusBadRequest, nil, "no JSON"},
		{"PATCH /a?fieldValidation=Strict", asMerge, `{"nobody":1}`, http.StatusUnprocessableEntity, nil, "strict about fields nobody knows"},
		{"POST ", asJSON, `{"metadata":{"name":"Bad_Name"}}`, http.StatusUnprocessableEntity, map[string]string{"details.causes.0.field": "metadata.name"}, "a name"},
		{"POST ", asJSON, `{"metadata":{}}`, http.StatusUnprocessableEntity, nil, "no name"},
		{"POST ", asJSON, `{"metadata":{"name":"b","namespace":"other"}}`, http.StatusBadRequest, nil, "not the namespace of the path"},
	})
}
