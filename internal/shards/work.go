package shards

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
)

// Work says what the results of the shards of one work are.
type Work[T any] struct {
	Results
	// Shard is the one that a result is of.
	Shard func(*T) Shard
	// Facts are the same in all results of one work, besides the number of shards.
	Facts func(*T) []Fact
	// Check refuses a result that no shard can have written; nil where all may.
	Check func(*T) error
	// Differ is what a message says of two results of one shard that differ: ": want one of each shard".
	Differ string
}

// Fact is something that is known of a work, and what it is called in messages.
type Fact struct {
	What string
	Is   any
}

// Read reads the results in the files, as [Read] finds them.
func (w *Work[T]) Read(files []string, stdin io.Reader) (all []T, err error) {
	err = Read(files, stdin, w.Taker(&all))
	return all, err
}

// Taker appends results to a list.
func (w *Work[T]) Taker(all *[]T) Taker {
	return Taker{w.Results, func(line []byte) error {
		one, err := w.One(line)
		*all = append(*all, one)
		return err
	}}
}

// One reads a line of a result. One that no shard can have written is refused.
func (w *Work[T]) One(line []byte) (one T, err error) {
	if err := json.Unmarshal(line, &one); err != nil {
		return one, err
	}
	// The line begins with its kind, and may have another one later, which counts.
	var last struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(line, &last); err != nil {
		return one, err
	}
	if kind := w.Results.Kind; last.Kind != kind {
		return one, fmt.Errorf("found a result of the kinds %s and %.80q, want %s alone", kind, last.Kind, kind)
	}
	if err := w.Shard(&one).Check(); err != nil || w.Check == nil {
		return one, err
	}
	return one, w.Check(&one)
}

// Once returns the results in the order of their shards, each once: the same result may be there twice, of a pod that was lost after
// it had ended. Results of another work are refused, and two of one shard that differ. lacks are the shards without a result.
func (w *Work[T]) Once(all []T) (once []T, lacks []int, err error) {
	if len(all) == 0 {
		return nil, nil, errors.New("found no results: want those of all shards")
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(w.Shard(&a).Index, w.Shard(&b).Index) })
	there := map[int]bool{}
	for i := range all {
		if err := w.refuse(&all[0], &all[i]); err != nil {
			return nil, nil, err
		}
		index := w.Shard(&all[i]).Index
		if there[index] && !reflect.DeepEqual(once[len(once)-1], all[i]) {
			return nil, nil, fmt.Errorf("shard %d: found two results that differ%s", index, w.Differ)
		}
		if !there[index] {
			there[index], once = true, append(once, all[i])
		}
	}
	return once, Lacking(w.Shard(&all[0]).Of, func(index int) bool { return there[index] }), nil
}

// refuse says why a result is of another work than the first one.
func (w *Work[T]) refuse(first, one *T) error {
	shard, want := w.Shard(one), w.facts(first)
	for i, f := range w.facts(one) {
		if f != want[i] {
			return fmt.Errorf("shard %d: found %s %v: want that of the others, %v", shard.Index, f.What, f.Is, want[i].Is)
		}
	}
	return nil
}

func (w *Work[T]) facts(one *T) []Fact {
	return append(w.Facts(one), Fact{"number of shards", w.Shard(one).Of})
}
