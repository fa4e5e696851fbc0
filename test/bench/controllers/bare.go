package controllers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// bare reads a list and then a watch, and hands every object to one of the workers. It keeps no cache and no queue, does
// not keep the events of an object in order, and gives up at the first error: this is what the requests cost by themselves,
// and decoding of just the fields that are read, with the standard library.
type bare struct {
	http    *http.Client
	host    string
	workers int
}

func newBare(o Options) (*bare, error) {
	client, err := rest.HTTPClientFor(o.Config)
	if err != nil {
		return nil, err
	}
	return &bare{http: client, host: strings.TrimSuffix(o.Config.Host, "/"), workers: o.Workers}, nil
}

// bareMetadata is what the loop reads of the metadata of an object.
type bareMetadata struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace"`
	UID             types.UID         `json:"uid"`
	ResourceVersion string            `json:"resourceVersion"`
	Labels          map[string]string `json:"labels"`
}

// tidbClustersPath is where the API server serves the objects of all jobs.
const tidbClustersPath = "/apis/pingcap.com/v1alpha1/tidbclusters"

// bareLabel is the job of rules/label.yaml.
func bareLabel(ctx context.Context, o Options) error {
	type tidbCluster struct {
		Metadata bareMetadata `json:"metadata"`
		Spec     struct {
			Paused bool `json:"paused"`
			TiKV   struct {
				Replicas int32 `json:"replicas"`
			} `json:"tikv"`
		} `json:"spec"`
	}
	b, err := newBare(o)
	if err != nil {
		return err
	}
	return follow(ctx, b, func(ctx context.Context, c tidbCluster) error {
		if c.Spec.Paused || c.Spec.TiKV.Replicas < 3 || c.Metadata.Labels["tier"] == o.Want {
			return nil
		}
		return b.setLabels(ctx, c.Metadata, map[string]string{"tier": o.Want})
	})
}

// bareRules is the job of rules/rules.yaml. It takes all of the conditions for true that hold for every object of the bench,
// but reads what they are about.
func bareRules(ctx context.Context, o Options) error {
	type component struct {
		Replicas int32 `json:"replicas"`
		Service  struct {
			Type string `json:"type"`
		} `json:"service"`
		Image string `json:"image"`
		Phase string `json:"phase"`
	}
	type tidbCluster struct {
		Metadata bareMetadata `json:"metadata"`
		Spec     struct {
			Paused               bool      `json:"paused"`
			Version              string    `json:"version"`
			Timezone             string    `json:"timezone"`
			PVReclaimPolicy      string    `json:"pvReclaimPolicy"`
			ConfigUpdateStrategy string    `json:"configUpdateStrategy"`
			PD                   component `json:"pd"`
			TiKV                 component `json:"tikv"`
			TiDB                 component `json:"tidb"`
			Helper               component `json:"helper"`
		} `json:"spec"`
		Status struct {
			TiKV component `json:"tikv"`
		} `json:"status"`
	}
	b, err := newBare(o)
	if err != nil {
		return err
	}
	return follow(ctx, b, func(ctx context.Context, c tidbCluster) error {
		if c.Spec.Paused || c.Spec.TiKV.Replicas < 3 {
			return nil
		}
		missing := map[string]string{}
		for name, matches := range map[string]bool{
			"tier":     true,
			"pd":       c.Spec.PD.Replicas == 3,
			"tidb":     c.Spec.TiDB.Replicas == 2,
			"service":  c.Spec.TiDB.Service.Type == "ClusterIP",
			"version":  c.Spec.Version == "v8.5.5",
			"timezone": c.Spec.Timezone == "UTC",
			"reclaim":  c.Spec.PVReclaimPolicy == "Retain",
			"update":   c.Spec.ConfigUpdateStrategy == "RollingUpdate",
			"helper":   strings.HasPrefix(c.Spec.Helper.Image, "alpine:"),
			"phase":    c.Status.TiKV.Phase == "Normal",
		} {
			if matches && c.Metadata.Labels[name] != o.Want {
				missing[name] = o.Want
			}
		}
		if len(missing) == 0 {
			return nil
		}
		return b.setLabels(ctx, c.Metadata, missing)
	})
}

// bareChild is the job of rules/child.yaml. It knows which ConfigMaps there were when it began, and does not watch them.
func bareChild(ctx context.Context, o Options) error {
	type object struct {
		Metadata bareMetadata `json:"metadata"`
		Spec     struct {
			Version string `json:"version"`
		} `json:"spec"`
	}
	b, err := newBare(o)
	if err != nil {
		return err
	}
	var (
		mu   sync.Mutex
		have = map[string]bool{} // By namespace and name.
	)
	_, err = list(ctx, b, "/api/v1/configmaps", url.Values{"labelSelector": {"app=bench"}}, func(c object) error {
		have[c.Metadata.Namespace+"/"+c.Metadata.Name] = true
		return nil
	})
	if err != nil {
		return fmt.Errorf("listing ConfigMaps: %w", err)
	}
	return follow(ctx, b, func(ctx context.Context, c object) error {
		name := c.Metadata.Name + "-settings"
		mu.Lock()
		known := have[c.Metadata.Namespace+"/"+name]
		have[c.Metadata.Namespace+"/"+name] = true
		mu.Unlock()
		if known {
			return nil
		}
		body, err := json.Marshal(corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{
				Name: name, Labels: map[string]string{"app": "bench", "tier": o.Want},
				OwnerReferences: []metav1.OwnerReference{
					*metav1.NewControllerRef(&metav1.ObjectMeta{Name: c.Metadata.Name, UID: c.Metadata.UID}, tidbClusterKind()),
				},
			},
			Data: map[string]string{"version": c.Spec.Version},
		})
		if err != nil {
			return err
		}
		return b.write(ctx, http.MethodPost, "/api/v1/namespaces/"+c.Metadata.Namespace+"/configmaps", "application/json", body)
	})
}

// follow calls work for each TidbCluster of a list and of the watch that follows it.
func follow[T any](ctx context.Context, b *bare, work func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	objects := make(chan T, b.workers)
	for range b.workers {
		group.Go(func() error {
			for object := range objects {
				if err := work(ctx, object); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(objects)
		send := func(object T) error {
			select {
			case objects <- object:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		version, err := list(ctx, b, tidbClustersPath, url.Values{}, send)
		if err != nil {
			return fmt.Errorf("listing TidbClusters: %w", err)
		}
		if err := watch(ctx, b, tidbClustersPath, version, send); err != nil {
			return fmt.Errorf("watching TidbClusters: %w", err)
		}
		return nil
	})
	return group.Wait()
}

// list reads pages of 500 objects, and returns the resourceVersion of the last.
func list[T any](ctx context.Context, b *bare, path string, query url.Values, send func(T) error) (version string, err error) {
	query.Set("limit", "500")
	for {
		var page struct {
			Metadata struct {
				ResourceVersion string `json:"resourceVersion"`
				Continue        string `json:"continue"`
			} `json:"metadata"`
			Items []T `json:"items"`
		}
		body, err := b.do(ctx, http.MethodGet, path+"?"+query.Encode(), "", nil)
		if err != nil {
			return "", err
		}
		err = errors.Join(json.NewDecoder(body).Decode(&page), body.Close())
		if err != nil {
			return "", err
		}
		for _, item := range page.Items {
			if err := send(item); err != nil {
				return "", err
			}
		}
		if page.Metadata.Continue == "" {
			return page.Metadata.ResourceVersion, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

func watch[T any](ctx context.Context, b *bare, path, version string, send func(T) error) error {
	query := url.Values{"watch": {"1"}, "resourceVersion": {version}, "timeoutSeconds": {"86400"}}
	body, err := b.do(ctx, http.MethodGet, path+"?"+query.Encode(), "", nil)
	if err != nil {
		return err
	}
	defer body.Close()
	frames := json.NewDecoder(body)
	for {
		var event struct {
			Type   string `json:"type"`
			Object T      `json:"object"`
		}
		if err := frames.Decode(&event); err != nil {
			return err
		}
		switch event.Type {
		case "ADDED", "MODIFIED":
			if err := send(event.Object); err != nil {
				return err
			}
		case "ERROR":
			return errors.New("the API server has ended the watch")
		}
	}
}

func (b *bare) setLabels(ctx context.Context, object bareMetadata, labels map[string]string) error {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": object.ResourceVersion, "labels": labels},
	})
	if err != nil {
		return err
	}
	path := strings.Replace(tidbClustersPath, "tidbclusters", "namespaces/"+object.Namespace+"/tidbclusters/"+object.Name, 1)
	return b.write(ctx, http.MethodPatch, path, "application/merge-patch+json", body)
}

func (b *bare) write(ctx context.Context, method, path, contentType string, body []byte) error {
	answer, err := b.do(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer) // Or the connection could not be used again.
	return errors.Join(err, answer.Close())
}

// do sends a request and returns the body of an answer that is good.
func (b *bare) do(ctx context.Context, method, path, contentType string, body []byte) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, b.host+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if method != http.MethodGet {
		request.Header.Set("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1") // A smaller answer.
		request.Header.Set("Content-Type", contentType)
	}
	response, err := b.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10)) // What it says is only told.
		_ = response.Body.Close()
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	return response.Body, nil
}
