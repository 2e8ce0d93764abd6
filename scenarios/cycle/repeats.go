package cycle

// repeats finds exact duplicates of instances in the list; nil means that there are none. An empty id, or one id of
// two different instances, is an *InstanceError.
//
// A list that is sorted by id, as most environments give it, is checked without memory.
func repeats(cluster *Cluster) ([]bool, error) {
	list := cluster.Instances
	sorted := true
	for i := range list {
		if list[i].ID == "" {
			return nil, &InstanceError{cluster.ID, i, "", "want an id"}
		}
		if i > 0 && list[i-1].ID >= list[i].ID {
			sorted = false
		}
	}
	if sorted {
		return nil, nil
	}
	var repeated []bool
	first := make(map[InstanceID]int32, len(list))
	for i := range list {
		before, again := first[list[i].ID]
		if !again {
			first[list[i].ID] = int32(i)
			continue
		}
		if !same(&list[before], &list[i]) {
			return nil, &InstanceError{
				cluster.ID, i, list[i].ID,
				"differs from instance " + itoa(int(before)) + " of the same id: want each id once",
			}
		}
		if repeated == nil {
			repeated = make([]bool, len(list))
		}
		repeated[i] = true
	}
	return repeated, nil
}

func same(a, b *Instance) bool {
	return a.State == b.State && a.Config == b.Config && a.CreatedAt.Equal(b.CreatedAt) && a.UpdatedAt.Equal(b.UpdatedAt)
}
