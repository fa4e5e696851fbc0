package main

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const deletionCost = "controller.kubernetes.io/pod-deletion-cost"

func replicaSet() example {
	return example{
		name: "replicaset", controllers: "replicaset-controller", kinds: []string{"replicasets", "pods"},
		quiet: 1500 * time.Millisecond, kind: "replicasets", child: "pods",
		parent: func() object { return newReplicaSet(parentName, 1, nil) },
		columns: []column{
			{"number of Pods", func(v view) any { return len(v["pods"]) }},
			{"which Pods", each("pods", "metadata.labels", "metadata.deletionTimestamp", "spec.nodeName", "status")},
			{"metadata", each("pods", "metadata.generateName", "metadata.labels", "metadata.annotations", "metadata.generation")},
			{"owners", each("pods", "metadata.ownerReferences")},
			{"finalizers", each("pods", "metadata.finalizers")},
			{"spec", each("pods", "spec")},
			{"status: counts", each("replicasets", "metadata.name", "status.replicas", "status.fullyLabeledReplicas",
				"status.readyReplicas", "status.availableReplicas", "status.terminatingReplicas")},
			{"conditions", each("replicasets", "metadata.name", "status.conditions")},
			{"observed- Generation", each("replicasets", "metadata.name", "status.observedGeneration")},
			{"ReplicaSet", each("replicasets", "metadata", "spec")},
		},
		themes: replicaSetThemes(),
		moves:  []func(*script){scaleUp, scaleDown, scaleDown, deletePods, finishing, unready, failPod, changeTemplate, releasePod, runSet},
	}
}

func newReplicaSet(name string, replicas int, change func(spec object)) object {
	labels := object{"app": name}
	spec := object{"replicas": replicas, "selector": object{"matchLabels": labels}, "template": template(object{"app": name, "tier": "one"}, "Always")}
	if change != nil {
		change(spec)
	}
	return object{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": object{"name": name, "labels": labels}, "spec": spec}
}

func (s *script) createSet(replicas int, change func(spec object)) {
	s.size = replicas
	s.step(func(p *place) { p.create("replicasets", newReplicaSet(parentName, replicas, change)) }, "create %d", replicas)
}

func (s *script) scale(to int, how string) {
	s.size = to
	s.step(func(p *place) { p.patch("replicasets", parentName, object{"spec": object{"replicas": to}}) }, "scale to %d%s", to, how)
}

// rank gives the first half of the Pods a state, and the others another; what they had before is gone.
func (s *script) rank(say string, first, others state) {
	half := s.size / 2
	if first != others {
		say = fmt.Sprintf("%d %s", half, say)
	}
	s.step(func(p *place) {
		for i, pod := range p.active(parentName) {
			is := others
			if i < half {
				is = first
			}
			p.report(pod, "node-1", is)
			p.patch("pods", pod.GetName(), object{"metadata": object{"annotations": object{deletionCost: nil}}})
		}
	}, "%s", say)
}

// runSet has all of them run and be ready on one node.
func runSet(s *script) {
	s.rank("all run", state{ready: true, since: time.Hour}, state{ready: true, since: time.Hour})
}

// costs gives each a cost of its own, so that nothing is left to chance.
func (s *script) costs() {
	runSet(s)
	s.step(func(p *place) {
		for i, pod := range p.active(parentName) {
			p.patch("pods", pod.GetName(), object{"metadata": object{"annotations": object{deletionCost: strconv.Itoa(10 * (i - 1))}}})
		}
	}, "costs")
}

func scaleUp(s *script) { s.scale(s.size+1+s.IntN(3), "") }

func scaleDown(s *script) {
	long := state{ready: true, since: time.Hour}
	switch how := s.IntN(5); {
	case s.mixed || how == 0:
		s.costs()
	case how == 1:
		s.rank("pending, others run", state{phase: "Pending", since: time.Hour}, long)
	case how == 2:
		s.rank("not ready, others are", state{since: time.Hour}, long)
	case how == 3:
		s.rank("ready for 10s, others for 1h", state{ready: true, since: 10 * time.Second}, long)
	case how == 4:
		s.rank("restarted 5 times, others never", state{ready: true, since: time.Hour, restarts: 5}, long)
	}
	s.scale(s.IntN(s.size+1), "")
}

func deletePods(s *script) {
	n := 1 + s.IntN(2)
	s.step(func(p *place) {
		for _, pod := range take(p.active(parentName), n) {
			p.delete("pods", pod.GetName(), metav1.DeleteOptions{})
		}
	}, "delete %d Pods", n)
}

func unready(s *script) {
	runSet(s)
	s.step(func(p *place) {
		for _, pod := range take(p.active(parentName), 1) {
			p.report(pod, "", state{})
		}
	}, "one not ready")
}

func failPod(s *script) {
	phase := []string{"Failed", "Succeeded"}[s.IntN(2)]
	s.step(func(p *place) {
		for _, pod := range take(p.active(parentName), 1) {
			p.report(pod, "node-1", state{phase: phase, since: time.Hour})
		}
	}, "one %s", phase)
}

func changeTemplate(s *script) {
	s.mixed = true
	s.step(func(p *place) {
		p.patch("replicasets", parentName, object{"spec": object{"template": object{
			"metadata": object{"labels": object{"tier": "two"}, "annotations": object{"a": "b"}},
			"spec":     object{"containers": list{object{"name": "main", "image": "app:2"}}},
		}}})
	}, "change template")
}

func releasePod(s *script) {
	s.step(func(p *place) {
		for _, pod := range take(p.active(parentName), 1) {
			p.patch("pods", pod.GetName(), object{"metadata": object{"labels": object{"app": "debug"}}})
		}
	}, "relabel one Pod")
}

func (s *script) spread(of string, together int) {
	s.step(func(p *place) {
		for i, pod := range p.active(of) {
			node := fmt.Sprintf("alone-%d", i)
			if i < together {
				node = "shared"
			}
			p.report(pod, node, state{ready: true, since: time.Hour})
		}
	}, "%d of %s on one node", together, of)
}

func (s *script) deleteParent(kind string, how metav1.DeletionPropagation) {
	s.over = true
	s.step(func(p *place) { p.delete(kind, parentName, metav1.DeleteOptions{PropagationPolicy: &how}) }, "delete, %s", how)
	finishing(s)
}

func nothing(*place) {}

func replicaSetThemes() []func(*script) {
	return []func(*script){
		func(s *script) { s.createSet(1+s.IntN(4), nil); runSet(s); scaleUp(s) },
		func(s *script) { s.createSet(4, nil); s.costs(); s.scale(2, " by cost") },
		func(s *script) {
			s.createSet(5, nil)
			s.step(func(p *place) {
				for _, pod := range take(p.active(parentName), 3) {
					p.report(pod, "node-1", state{ready: true, since: time.Hour})
				}
			}, "3 run, 2 unscheduled")
			s.scale(1+s.IntN(4), "")
		},
		siblingSets,
		func(s *script) {
			n := 1 + s.IntN(3)
			s.mixed = true
			s.step(func(p *place) {
				for i := range n {
					p.create("pods", lone(fmt.Sprintf("orphan-%d", i), object{"app": parentName, "extra": "yes"}, "Always"))
				}
			}, "%d orphans", n)
			s.createSet(2, nil)
		},
		func(s *script) {
			s.createSet(2, nil)
			runSet(s)
			releasePod(s)
			s.costs()
			s.step(func(p *place) {
				p.adopt(p.pods(func(o *unstructured.Unstructured) bool { return o.GetLabels()["app"] == "debug" }))
			}, "relabel it back")
		},
		func(s *script) {
			s.step(func(p *place) {
				p.create("configmaps", object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "owner"}})
				pod := lone("foreign", nil, "Always")
				pod["metadata"] = object{"name": "foreign", "labels": object{"app": parentName}, "ownerReferences": p.controller("configmaps", "owner")}
				p.create("pods", pod)
			}, "a matching Pod of another controller")
			s.createSet(2, nil)
		},
		func(s *script) {
			s.createSet(2, func(spec object) { spec["minReadySeconds"] = 10 })
			s.rank("all ready just now, minReadySeconds 10", state{ready: true}, state{ready: true})
			s.pass("10s", 12*time.Second)
		},
		func(s *script) { s.createSet(2, nil); runSet(s); changeTemplate(s); scaleUp(s) },
		func(s *script) { s.createSet(3, nil); runSet(s); failPod(s); failPod(s) },
		func(s *script) {
			s.createSet(3, nil)
			runSet(s)
			s.scale(1, ", nothing ends")
			scaleUp(s)
			finishing(s)
		},
		func(s *script) {
			s.createSet(2, nil)
			runSet(s)
			s.deleteParent("replicasets", metav1.DeletePropagationBackground)
		},
		func(s *script) {
			s.createSet(3, nil)
			runSet(s)
			s.deleteParent("replicasets", metav1.DeletePropagationForeground)
		},
		func(s *script) {
			s.createSet(3, nil)
			s.costs()
			s.deleteParent("replicasets", metav1.DeletePropagationOrphan)
			s.over = false
			s.createSet(2, nil)
		},
		quotaSet,
		func(s *script) {
			s.step(func(p *place) {
				p.create("pods", lone("chosen", object{"app": parentName, "tier": "one"}, "Always"))
				p.create("pods", lone("canary", object{"app": parentName, "tier": "one", "canary": "yes"}, "Always"))
			}, "2 orphans, one a canary")
			s.createSet(2, func(spec object) {
				spec["selector"] = object{"matchExpressions": list{
					object{"key": "app", "operator": "In", "values": list{parentName, "old"}},
					object{"key": "tier", "operator": "Exists"},
					object{"key": "canary", "operator": "DoesNotExist"},
				}}
			})
			runSet(s)
		},
		func(s *script) { s.createSet(0, nil); scaleUp(s); runSet(s); s.scale(0, "") },
		func(s *script) {
			s.createSet(2, func(spec object) {
				pod := template(nil, "Always")
				pod["metadata"] = object{"labels": object{"app": parentName}, "annotations": object{"note": "kept"}, "finalizers": list{"example.com/kept"}}
				spec["template"] = pod
			})
			s.step(func(p *place) {
				p.patch("replicasets", parentName, object{"metadata": object{"annotations": object{"seen": "no"}, "labels": object{"more": "yes"}}})
			}, "annotate it")
		},
		func(s *script) {
			s.step(func(p *place) { p.create("replicasets", newReplicaSet("other", 2, nil)) }, "create another of 2")
			s.createSet(2, nil)
			runSet(s)
			s.step(func(p *place) { p.adopt(take(p.active("other"), 1)) }, "move a Pod of the other")
		},
	}
}

// adopt has Pods match, the first to be deleted where all run.
func (p *place) adopt(pods []*unstructured.Unstructured) {
	for _, pod := range pods {
		p.patch("pods", pod.GetName(), object{"metadata": object{"labels": object{"app": parentName}, "annotations": object{deletionCost: "-100"}}})
	}
}

func siblingSets(s *script) {
	s.step(func(p *place) {
		deployment := newReplicaSet("parent", 1, nil)
		deployment["kind"] = "Deployment"
		p.create("deployments", deployment)
		for name, replicas := range map[string]int{parentName: 3, "old": 2} {
			set := newReplicaSet(name, replicas, nil)
			set["metadata"] = object{"name": name, "ownerReferences": p.controller("deployments", "parent")}
			p.create("replicasets", set)
		}
	}, "create 3, and 2 of the same Deployment")
	s.size, s.mixed = 3, true
	s.spread("old", 2)
	s.spread(parentName, 1)
	s.scale(2, "")
}

func quotaSet(s *script) {
	quota := func(p *place, n string) {
		p.patch("resourcequotas", "quota", object{"spec": object{"hard": object{"pods": n}}})
		p.patch("resourcequotas", "quota", object{"status": object{"hard": object{"pods": n}, "used": object{"pods": "2"}}}, "status")
	}
	s.createSet(2, nil)
	s.step(func(p *place) {
		p.create("resourcequotas", object{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": object{"name": "quota"}})
		quota(p, "2")
	}, "a quota of 2")
	s.scale(3, ", which is refused")
	s.step(func(p *place) { quota(p, "9") }, "a quota of 9")
	s.wait(20 * time.Second) // Both try again, in their own time.
	runSet(s)
	s.over = true
}
