//! The mesh of the example `05_airfoil`.

#[path = "../../../../examples/airfoil_mesh.rs"]
mod mesh;

use mesh::Mesh;

/// The hash that the test of the same mesh in Python computes too.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn the_mesh_is_that_of_the_python_example() {
    let mesh = Mesh::new(40, 60);
    assert_eq!((mesh.cells(), mesh.nodes(), mesh.edges(), mesh.bedges()), (7_200, 7_381, 14_260, 280));
    let tables = [&mesh.cell_nodes, &mesh.edge_nodes, &mesh.edge_cells, &mesh.bedge_nodes, &mesh.bedge_cells, &mesh.bound];
    let coordinates = mesh.x.iter().flat_map(|x| x.to_le_bytes());
    let entries = tables.into_iter().flatten().flat_map(|entry| entry.to_le_bytes());
    assert_eq!(fnv1a(coordinates.chain(entries)), 0xbe2d_9c61_bdb0_d36c);
}
