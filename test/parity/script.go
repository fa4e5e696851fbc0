package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// parentName is the name of what a controller is for in each scenario.
const parentName = "web"

// example is a rule file and the controllers that it is held against.
type example struct {
	name        string
	controllers string        // of kube-controller-manager
	kinds       []string      // that are compared
	quiet       time.Duration // how long nothing changes when all is done; more than the controllers wait between two steps
	kind, child string
	parent      func() object
	columns     []column
	themes      []func(*script) // how a scenario begins; each has its turn
	moves       []func(*script) // how it may go on
}

// step is what users, the scheduler or kubelets do, before all is quiet again.
type step struct {
	say  string
	do   func(*place)
	wait time.Duration // at least, before it counts as quiet
}

// script is a scenario in the making.
type script struct {
	*rand.Rand

	steps []step
	over  bool          // No move follows.
	mixed bool          // Of a ReplicaSet: its Pods differ in more than what ranks them. Of a Job: a Pod has failed just now.
	size  int           // replicas, or parallelism
	age   time.Duration // how long ago a Pod says to have finished; each later one says less
}

// write makes the scenario of a number, which is the same each time.
func (e example) write(number int) []step {
	s := &script{Rand: rand.New(rand.NewPCG(uint64(number), uint64(len(e.name)))), age: time.Hour}
	e.themes[number%len(e.themes)](s)
	for range 1 + s.IntN(3) {
		if !s.over {
			e.moves[s.IntN(len(e.moves))](s)
		}
	}
	return s.steps
}

func (s *script) step(do func(*place), say string, args ...any) {
	s.steps = append(s.steps, step{say: fmt.Sprintf(say, args...), do: do})
}

// wait has the last step wait.
func (s *script) wait(d time.Duration) { s.steps[len(s.steps)-1].wait = d }

// later is the next moment at which a Pod may say to have finished.
func (s *script) later() time.Duration {
	s.age -= time.Minute
	return s.age
}

// take is the first Pods of a list, at most so many.
func take(pods []*unstructured.Unstructured, n int) []*unstructured.Unstructured {
	return pods[:min(n, len(pods))]
}

// template is a Pod template with some labels.
func template(labels object, restart string) object {
	return object{"metadata": object{"labels": labels}, "spec": object{
		"restartPolicy": restart, "containers": list{object{"name": "main", "image": "app"}},
	}}
}

// lone is a Pod that no controller has made.
func lone(name string, labels object, restart string) object {
	pod := template(labels, restart)
	pod["apiVersion"], pod["kind"] = "v1", "Pod"
	pod["metadata"] = object{"name": name, "labels": labels}
	return pod
}

func finishing(s *script) { s.step((*place).finish, "finish terminating") }
