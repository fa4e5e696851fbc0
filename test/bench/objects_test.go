package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	pingcapv1alpha1 "github.com/pingcap/tidb-operator/pkg/apis/pingcap/v1alpha1"
)

// TestSizeOfObjects holds that objects are as large as they were asked to be, up to one store and one variable.
func TestSizeOfObjects(t *testing.T) {
	for _, size := range []int{1000, 3000, 10_000, 50_000} {
		object, err := newTidbCluster("basic-000001", 3, size)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jsonSize(object)
		if err != nil || got < size || got > size+500 {
			t.Errorf("asked for %d bytes, got %d and %v", size, got, err)
		}
	}
}

// TestObjectsFitTheGoTypes holds that typed controllers decode all of an object, and not just what they know.
func TestObjectsFitTheGoTypes(t *testing.T) {
	object, err := newTidbCluster("basic-000001", 3, 3000)
	if err != nil {
		t.Fatal(err)
	}
	data, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var cluster pingcapv1alpha1.TidbCluster
	if err := json.Unmarshal(data, &cluster); err != nil {
		t.Fatal(err)
	}
	if cluster.Spec.TiKV.Replicas != 3 || len(cluster.Spec.TiKV.Env) == 0 || len(cluster.Spec.TiKV.Env) != len(cluster.Status.TiKV.Stores) {
		t.Errorf("got %d replicas, %d variables, %d stores", cluster.Spec.TiKV.Replicas, len(cluster.Spec.TiKV.Env), len(cluster.Status.TiKV.Stores))
	}
	again, err := json.Marshal(cluster)
	if err != nil {
		t.Fatal(err)
	}
	var before, after map[string]any
	for text, to := range map[string]*map[string]any{string(data): &before, string(again): &after} {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			t.Fatal(err)
		}
	}
	if missing := lacks(after, before); missing != "" {
		t.Errorf("the Go types do not have %s\n%s", missing, cmp.Diff(before, after))
	}
}

// lacks names a field of what was that is not in what is.
func lacks(is, was map[string]any) string {
	for key, value := range was {
		now, has := is[key]
		if !has {
			return key
		}
		below, isMap := value.(map[string]any)
		if !isMap {
			continue
		}
		nowBelow, isMap := now.(map[string]any)
		if !isMap {
			return key
		}
		if missing := lacks(nowBelow, below); missing != "" {
			return key + "." + missing
		}
	}
	return ""
}
