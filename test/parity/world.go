package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

type (
	object = map[string]any
	list   = []any
)

// resources are the kinds that scenarios use.
func resources() map[string]schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{
		"configmaps":     {Version: "v1", Resource: "configmaps"},
		"deployments":    {Group: "apps", Version: "v1", Resource: "deployments"},
		"endpoints":      {Version: "v1", Resource: "endpoints"},
		"jobs":           {Group: "batch", Version: "v1", Resource: "jobs"},
		"pods":           {Version: "v1", Resource: "pods"},
		"replicasets":    {Group: "apps", Version: "v1", Resource: "replicasets"},
		"resourcequotas": {Version: "v1", Resource: "resourcequotas"},
		"services":       {Version: "v1", Resource: "services"},
	}
}

// world is what a watch has seen of the kinds of an example. Its methods may be called concurrently.
type world struct {
	client    dynamic.Interface
	informers map[string]cache.SharedIndexInformer // by kind

	mu      sync.Mutex
	changed map[string]time.Time // when something changed last, by namespace; guarded by mu
	names   map[string]string    // kind and name of every object ever seen, by uid; guarded by mu
}

// watch begins to watch kinds, until the context ends.
func watch(ctx context.Context, client dynamic.Interface, kinds []string) (*world, error) {
	w := &world{
		client: client, informers: map[string]cache.SharedIndexInformer{},
		changed: map[string]time.Time{}, names: map[string]string{},
	}
	for _, kind := range kinds {
		informer := dynamicinformer.NewFilteredDynamicInformer(client, resources()[kind], "", 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, nil).Informer()
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    w.saw,
			UpdateFunc: func(_, o any) { w.saw(o) },
			DeleteFunc: w.saw,
		})
		if err != nil {
			return nil, err
		}
		w.informers[kind] = informer
		go informer.RunWithContext(ctx)
	}
	for kind, informer := range w.informers {
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return nil, fmt.Errorf("watching %s: %w", kind, ctx.Err())
		}
	}
	return w, nil
}

func (w *world) saw(of any) {
	if tombstone, is := of.(cache.DeletedFinalStateUnknown); is {
		of = tombstone.Obj
	}
	o, is := of.(*unstructured.Unstructured)
	if !is {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed[o.GetNamespace()] = time.Now()
	w.names[string(o.GetUID())] = o.GetKind() + " " + o.GetName()
}

// list returns the objects of a kind in a namespace, which the caller does not change.
func (w *world) list(kind, namespace string) []*unstructured.Unstructured {
	found, err := w.informers[kind].GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		return nil // There is no such kind of index, which cannot be.
	}
	var out []*unstructured.Unstructured
	for _, one := range found {
		if o, is := one.(*unstructured.Unstructured); is {
			out = append(out, o)
		}
	}
	return out
}

// settle waits until nothing has changed in a namespace for a time, and for another time at least.
func (w *world) settle(ctx context.Context, namespace string, quiet, least time.Duration) error {
	const limit = 3 * time.Minute
	began := time.Now()
	for {
		w.mu.Lock()
		last := w.changed[namespace]
		w.mu.Unlock()
		if last.Before(began) {
			last = began
		}
		left := max(quiet-time.Since(last), least-time.Since(began))
		if left <= 0 {
			return nil
		}
		if time.Since(began) > limit {
			return fmt.Errorf("%s was not quiet for %s within %s", namespace, quiet, limit)
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// place is a namespace in which a scenario is played, with its user, its scheduler and its kubelets. What follows an
// error does nothing.
type place struct {
	world     *world
	namespace string
	do        func(func(context.Context) error)
}

func (p *place) of(kind string) dynamic.ResourceInterface {
	return p.world.client.Resource(resources()[kind]).Namespace(p.namespace)
}

// create leaves an object as it is that is there, since a move may come twice.
func (p *place) create(kind string, o object, sub ...string) {
	p.do(func(ctx context.Context) error {
		_, err := p.of(kind).Create(ctx, &unstructured.Unstructured{Object: o}, metav1.CreateOptions{}, sub...)
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// patch is a merge patch of KIND/NAME, if it is there.
func (p *place) patch(of string, body object, sub string) {
	kind, name, _ := strings.Cut(of, "/")
	p.do(func(ctx context.Context) error {
		_, err := p.of(kind).Patch(ctx, name, types.MergePatchType, []byte(text(body)), metav1.PatchOptions{}, slices.DeleteFunc([]string{sub}, isEmpty)...)
		return gone(err)
	})
}

func isEmpty(s string) bool { return s == "" }

func (p *place) delete(of string, options metav1.DeleteOptions) {
	kind, name, _ := strings.Cut(of, "/")
	p.do(func(ctx context.Context) error { return gone(p.of(kind).Delete(ctx, name, options)) })
}

// gone takes it for success that there is no such object.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// get returns KIND/NAME, or nothing.
func (p *place) get(of string) (found []*unstructured.Unstructured) {
	kind, name, _ := strings.Cut(of, "/")
	p.do(func(ctx context.Context) error {
		o, err := p.of(kind).Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			found = append(found, o)
		}
		return gone(err)
	})
	return found
}

// controller is a reference to KIND/NAME as the controller of another object.
func (p *place) controller(of string) (out list) {
	for _, o := range p.get(of) {
		out = append(out, object{
			"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "name": o.GetName(), "uid": string(o.GetUID()), "controller": true,
		})
	}
	return out
}

// pods are those that the condition holds for. Their order does not depend on generated names: Pods that are alike except
// for names and times follow each other, the older first.
func (p *place) pods(condition func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	found := slices.DeleteFunc(p.world.list("pods", p.namespace), func(o *unstructured.Unstructured) bool { return !condition(o) })
	class := map[types.UID]string{}
	for _, pod := range found {
		class[pod.GetUID()] = text(p.world.normal(p.namespace, "", object{
			"labels": field(pod, "metadata", "labels"), "annotations": field(pod, "metadata", "annotations"),
			"name": pod.GetName(), "spec": field(pod, "spec"), "status": field(pod, "status"),
		}))
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(class[a.GetUID()], class[b.GetUID()]),
			a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), cmp.Compare(a.GetName(), b.GetName()))
	})
	return found
}

// active are the Pods of a controller that are neither finished nor terminating.
func (p *place) active(owner string) []*unstructured.Unstructured {
	return p.pods(func(pod *unstructured.Unstructured) bool {
		controller := metav1.GetControllerOf(pod)
		return controller != nil && controller.Name == owner && pod.GetDeletionTimestamp() == nil && !finished(pod)
	})
}

func finished(pod *unstructured.Unstructured) bool {
	return slices.Contains([]any{"Succeeded", "Failed"}, field(pod, "status", "phase"))
}

// state is what a kubelet says of a Pod. The zero value is a Pod that runs and is not ready.
type state struct {
	Phase    string
	Ready    bool
	Since    metav1.Duration // how long it is ready, or has been over
	Before   bool            // It has been over for long, but not for as long as those before it.
	Restarts int
	IPs      string // with commas
}

// report puts a Pod on a node, if it is on none, and writes its status.
func (p *place) report(pod *unstructured.Unstructured, node string, is state, now time.Time) {
	if field(pod, "spec", "nodeName") == nil && pod.GetDeletionTimestamp() == nil {
		p.create("pods", object{
			"apiVersion": "v1", "kind": "Binding", "metadata": object{"name": pod.GetName()},
			"target": object{"kind": "Node", "name": node},
		}, "binding")
	}
	phase := cmp.Or(is.Phase, "Running")
	at := now.Add(-is.Since.Duration).UTC().Format(time.RFC3339)
	container := object{"name": "main", "image": "app", "imageID": "", "restartCount": is.Restarts, "ready": is.Ready}
	switch phase {
	case "Running":
		container["state"] = object{"running": object{"startedAt": at}}
	case "Succeeded", "Failed":
		container["state"] = object{"terminated": object{"exitCode": map[string]int{"Failed": 1}[phase], "startedAt": at, "finishedAt": at}}
	}
	ready := object{"type": "Ready", "status": "False", "lastTransitionTime": at, "reason": "Since" + is.Since.Duration.String()}
	if is.Ready {
		ready["status"] = "True"
	}
	status := object{"phase": phase, "conditions": list{ready}, "containerStatuses": list{container}}
	if is.IPs != "" {
		ips := list{}
		for ip := range strings.SplitSeq(is.IPs, ",") {
			ips = append(ips, object{"ip": ip})
		}
		status["podIPs"] = ips
		status["podIP"], _, _ = strings.Cut(is.IPs, ",")
	}
	p.patch("pods/"+pod.GetName(), object{"status": status}, "status")
}

// finish does what kubelets do with Pods that are terminating: their containers end, then they are gone.
func (p *place) finish() {
	for _, pod := range p.pods(func(o *unstructured.Unstructured) bool { return o.GetDeletionTimestamp() != nil }) {
		if !finished(pod) {
			p.report(pod, "node-1", state{Phase: "Failed"}, time.Now())
		}
		p.delete("pods/"+pod.GetName(), metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	}
}

func field(o *unstructured.Unstructured, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return value
}
