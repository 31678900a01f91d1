//! Groups of names that depend on each other, each after the groups it depends on (Tarjan's algorithm, without recursion).

/// The strongly connected components of a graph, given as the successors of each node; successors come first.
pub(super) fn components(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; successors.len()];
    let mut low = vec![0; successors.len()];
    let mut on_stack = vec![false; successors.len()];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..successors.len() {
        if number[root] != UNSEEN {
            continue;
        }
        // (node, number of successors visited)
        let mut path = vec![(root, 0)];
        while let Some((node, looked_at)) = path.pop() {
            if looked_at == 0 {
                (number[node], low[node]) = (next, next);
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&successor) = successors[node].get(looked_at) {
                path.push((node, looked_at + 1));
                if number[successor] == UNSEEN {
                    path.push((successor, 0));
                } else if on_stack[successor] {
                    low[node] = low[node].min(number[successor]);
                }
                continue;
            }
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == number[node] {
                let start = stack.iter().rposition(|&other| other == node).expect("invariant: a root is on the stack");
                let component: Vec<usize> = stack.split_off(start);
                component.iter().for_each(|&member| on_stack[member] = false);
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn groups_come_behind_what_they_depend_on() {
        let mut found = components(&[vec![1], vec![2], vec![1], vec![0], vec![]]);
        found.iter_mut().for_each(|group| group.sort());
        assert_eq!(found, [vec![1, 2], vec![0], vec![3], vec![4]]);
    }

    #[test]
    fn a_long_chain_does_not_exhaust_the_stack() {
        let chain: Vec<Vec<usize>> = (0..100_000).map(|node| if node + 1 < 100_000 { vec![node + 1] } else { vec![] }).collect();
        let found = components(&chain);
        assert_eq!(found.len(), 100_000);
        assert_eq!(found[0], [99_999]);
    }
}
