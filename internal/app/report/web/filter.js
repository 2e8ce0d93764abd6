// Filters: which nodes have lanes, and in which order.

function fillFilters() {
  const options = (id, title, values) => {
    const place = byId(id);
    place.appendChild(new Option(title, ""));
    for (const [value, text] of values) place.appendChild(new Option(text, value));
    place.hidden = values.length < 2;
    place.addEventListener("change", () => { filter[id] = place.value; build(); });
  };
  // A group may have no name, so that its value has a sign before it.
  options("group", "all groups", groups.map((g) => [`=${g}`, g || "(none)"]));
  options("role", "all roles", rolesInOrder.filter((r) => (data.nodes.role || []).some((id) => str(id) === r)).map((r) => [r, r]));
  options("phase", "all phases", phases.filter((p) => (data.nodes.spans.phase || []).some((id) => str(id) === p)).map((p) => [p, `was ${p}`]));
  const order = byId("order");
  order.addEventListener("change", () => { filter.order = order.value; build(); });
}
