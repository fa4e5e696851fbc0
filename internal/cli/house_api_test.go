package cli

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keepHouse adds to a mux what an inventory and a cleanup need: one ConfigMap can be
// read, made, replaced and deleted, and it is said that there are ConfigMaps.
func (a *apiServer) keepHouse(mux *http.ServeMux) {
	const one = "/api/v1/namespaces/{namespace}/configmaps/{name}"
	mux.HandleFunc("GET "+one, a.get)
	mux.HandleFunc("PUT "+one, a.put)
	mux.HandleFunc("DELETE "+one, a.remove)
	mux.HandleFunc("POST /api/v1/namespaces/{namespace}/configmaps", a.put)
	mux.HandleFunc("GET /api", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, metav1.APIVersions{Versions: []string{"v1"}})
	})
	mux.HandleFunc("GET /api/v1", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, metav1.APIResourceList{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "configmaps", Kind: "ConfigMap", Namespaced: true},
		}})
	})
	mux.HandleFunc("GET /apis", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, metav1.APIGroupList{})
	})
}

func keyOf(r *http.Request) string { return r.PathValue("namespace") + "/" + r.PathValue("name") }

func (a *apiServer) get(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	object, found := a.objects[keyOf(r)]
	switch {
	case a.unreadable[keyOf(r)] != "":
		answerStatus(w, http.StatusForbidden, a.unreadable[keyOf(r)])
	case !found:
		answerStatus(w, http.StatusNotFound, "configmaps \""+r.PathValue("name")+"\" not found")
	default:
		answerJSON(w, http.StatusOK, object)
	}
}

// put makes or replaces an object. Nobody else does so meanwhile.
func (a *apiServer) put(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		a.t.Error(err)
	}
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		a.t.Error(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, r.Method+" "+r.URL.Path)
	if metadata, ok := object["metadata"].(map[string]any); ok && r.Method == http.MethodPost {
		metadata = maps.Clone(metadata)
		metadata["uid"] = "uid-" + metadata["name"].(string)
		object["metadata"] = metadata
	}
	answerJSON(w, http.StatusOK, a.store(object, map[string]string{http.MethodPost: "ADDED", http.MethodPut: "MODIFIED"}[r.Method]))
}

// remove deletes an object at once, unless it is a dry run.
func (a *apiServer) remove(w http.ResponseWriter, r *http.Request) {
	var options metav1.DeleteOptions
	if err := json.NewDecoder(r.Body).Decode(&options); err != nil {
		a.t.Error(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, "DELETE "+r.URL.Path)
	if a.refuse != "" {
		answerStatus(w, http.StatusForbidden, a.refuse)
		return
	}
	if len(options.DryRun) == 0 {
		delete(a.objects, keyOf(r))
	}
	answerJSON(w, http.StatusOK, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"})
}
