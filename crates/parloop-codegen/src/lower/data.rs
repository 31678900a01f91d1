//! Arguments and temporaries: how they are passed, declared and addressed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parloop_device::DType;
use parloop_ir::layout::{Axis, Hidden, LayoutError};
use parloop_ir::syntax::{AddressSpace, Argument, ArgumentKind, Initializer, Layout, LoopKernel, Offset, Target, Temporary, Type};
use parloop_isl::Name;

use super::array::{Array, Storage};
use super::location::{constant, separate_name};
use super::scope::Scope;
use super::shared::Shared;
use super::tree::{Declaration, Param, ParamSource, Statement, Table, Value, ValueKind, mentions, value_param};
use super::{GlobalTemporary, LowerError, tidy};

/// Bytes to which arrays of a group on a CPU are aligned: a cache line, and the widest vectors.
const ALIGNMENT: u32 = 64;

/// The most bytes of temporaries on the stack of a thread, which has two or more mebibytes.
const MOST_ON_STACK: u64 = 1 << 20;

/// The data of a function.
pub(super) struct Data {
    pub(super) arrays: HashMap<Name, Array>,
    pub(super) numbers: HashMap<Name, Type>,
    /// Variables to be declared, by name.
    variables: BTreeMap<Name, Declaration>,
    /// Memory that several temporaries share.
    blocks: BTreeMap<Name, Block>,
    /// Variables that start with the values of a table.
    copied: Vec<(Name, Name, u64)>,
}

/// A block of memory that temporaries share.
struct Block {
    space: AddressSpace,
    bytes: u64,
    parts: Vec<(Name, Type)>,
}

impl Data {
    /// The data of a kernel; tables of constants and the functions of classes are noted in `shared`.
    pub(super) fn of(kernel: &LoopKernel, target: Target, shared: &mut Shared) -> Result<Data, LowerError> {
        let mut data = Data {
            arrays: HashMap::new(),
            numbers: HashMap::new(),
            variables: BTreeMap::new(),
            blocks: BTreeMap::new(),
            copied: Vec::new(),
        };
        for argument in &kernel.arguments {
            data.argument(kernel, argument, target, shared)?;
        }
        for temporary in kernel.temporaries.values() {
            data.temporary(kernel, temporary, target, shared)?;
        }
        Ok(data)
    }

    fn argument(&mut self, kernel: &LoopKernel, argument: &Argument, target: Target, shared: &mut Shared) -> Result<(), LowerError> {
        let ty = typed(&argument.name, argument.ty.as_ref())?;
        let name = &argument.name;
        check_type(name, &ty, target)?;
        shared.note_type(&ty)?;
        match &argument.kind {
            ArgumentKind::Value => drop(self.numbers.insert(name.clone(), ty)),
            ArgumentKind::Object => {
                if let Type::Class(class) = &ty {
                    shared.add_class(class)?;
                }
                self.numbers.insert(name.clone(), ty);
            }
            ArgumentKind::Image(_) => {
                let what = format!("argument `{name}` is an image; pass an array instead");
                return Err(LowerError::Unsupported { target, what });
            }
            ArgumentKind::Array { space, layout, .. } => {
                for (hidden, _) in layout.hidden_parameters(name) {
                    self.numbers.insert(hidden, kernel.index_type.into());
                }
                let lengths = separate_lengths(name, layout)?;
                let storage = if lengths.is_empty() { Storage::Flat } else { Storage::Separate(lengths) };
                self.arrays.insert(name.clone(), array(name, name, ty, *space, layout, storage)?);
            }
        }
        Ok(())
    }

    fn temporary(&mut self, kernel: &LoopKernel, temporary: &Temporary, target: Target, shared: &mut Shared) -> Result<(), LowerError> {
        let name = &temporary.name;
        let ty = typed(name, temporary.ty.as_ref())?;
        check_type(name, &ty, target)?;
        shared.note_type(&ty)?;
        if temporary.initializer.is_some() && ty.has_components() {
            let what = format!("temporary `{name}` of vectors or records has initial values; assign them in an instruction");
            return Err(LowerError::Unsupported { target, what });
        }
        if temporary.layout.offset != Offset::Zero {
            let what = format!("temporary `{name}` has an offset; declare it without one");
            return Err(LowerError::Unsupported { target, what });
        }
        let space = temporary.space.unwrap_or(AddressSpace::Private);
        let initializer = in_memory_order(temporary, target)?;
        if let Some(initializer) = initializer.as_ref().filter(|_| temporary.read_only) {
            let table = shared.table(kernel, name, initializer);
            self.arrays.insert(name.clone(), array(name, &table, ty, AddressSpace::Constant, &temporary.layout, Storage::Flat)?);
            return Ok(());
        }
        let is_number = temporary.layout.axis_count() == Some(0);
        let storage = match space {
            AddressSpace::Global | AddressSpace::Constant => Storage::Flat,
            _ if temporary.base_storage.is_some() => Storage::Flat,
            _ if is_number => Storage::Number,
            _ => Storage::Flat,
        };
        self.arrays.insert(name.clone(), array(name, name, ty.clone(), space, &temporary.layout, storage)?);
        if matches!(space, AddressSpace::Global | AddressSpace::Constant) {
            if let Some(block) = &temporary.base_storage {
                if temporary.initializer.is_some() {
                    let what =
                        format!("temporary `{name}`, which shares memory with others, has initial values; assign them in an instruction");
                    return Err(LowerError::Unsupported { target, what });
                }
                self.block(block, space).parts.push((name.clone(), ty));
            }
            return Ok(());
        }
        let size = static_size(name, &temporary.layout, space)?;
        if temporary.initializer.is_some() && temporary.base_storage.is_some() {
            let what = format!("temporary `{name}`, which shares memory with others, has initial values; assign them in an instruction");
            return Err(LowerError::Unsupported { target, what });
        }
        if let Some(block) = &temporary.base_storage {
            let block = self.block(block, space);
            block.bytes = block.bytes.max(size * type_size(&ty));
            block.parts.push((name.clone(), ty));
            return Ok(());
        }
        if let Some(initializer) = &initializer {
            if space == AddressSpace::Local {
                let what = format!("temporary `{name}` in local memory has initial values; assign them in an instruction");
                return Err(LowerError::Unsupported { target, what });
            }
            let table = shared.table(kernel, &apart(kernel, format!("{name}_init")), initializer);
            self.copied.push((name.clone(), table, size));
        }
        let lengths = if is_number { Vec::new() } else { vec![size.max(1)] };
        // Where rows fill cache lines they are read and written by vectors, which should not cross from one line to the next.
        let rows = temporary.layout.static_lengths().filter(|lengths| lengths.len() > 1 && target == Target::C);
        let row = rows.and_then(|lengths| lengths.last()?.checked_mul(type_size(&ty)));
        let alignment = row.filter(|row| row.is_multiple_of(ALIGNMENT.into())).map(|_| ALIGNMENT);
        let declaration = Declaration { name: name.clone(), ty, space, lengths, constant: false, value: None, alignment };
        self.variables.insert(name.clone(), declaration);
        Ok(())
    }

    /// Declares what the body uses.
    pub(super) fn declare(&self, scope: &mut Scope<'_>, body: &mut Vec<Statement>) -> Result<(), LowerError> {
        for (name, table, size) in &self.copied {
            if body.iter().any(|statement| mentions(statement, name)) {
                let copy = self.copy(scope, name, table, *size)?;
                body.insert(0, copy);
            }
        }
        let mut declarations: Vec<Declaration> = self.variables.values().cloned().collect();
        let mut all = 0u64;
        for declaration in &mut declarations {
            if let Some(array) = scope.arrays.get(&declaration.name).filter(|array| !array.widened.is_empty()) {
                let copies: Vec<u64> = array.widened.iter().map(|(_, length)| *length).collect();
                declaration.lengths.splice(0..0, copies);
            }
            let elements = declaration.lengths.iter().fold(1u64, |product, &length| product.saturating_mul(length));
            let bytes = elements.saturating_mul(type_size(&declaration.ty));
            let on_stack = declaration.space == AddressSpace::Private || scope.target == Target::C;
            if on_stack && body.iter().any(|statement| mentions(statement, &declaration.name)) {
                all = all.saturating_add(bytes);
                if all > MOST_ON_STACK {
                    return Err(LowerError::TooMuchPrivate { name: declaration.name.clone(), bytes, all, most: MOST_ON_STACK });
                }
            }
            let is_shared = declaration.space == AddressSpace::Local || declaration.lengths.len() > 1;
            if scope.target == Target::C && !declaration.lengths.is_empty() && is_shared {
                declaration.alignment = Some(ALIGNMENT);
            }
        }
        tidy::declare(body, declarations);
        for (name, block) in self.blocks.iter().rev() {
            let on_stack = block.space == AddressSpace::Private || scope.target == Target::C && block.space == AddressSpace::Local;
            all = all.saturating_add(if on_stack { block.bytes } else { 0 });
            if on_stack && all > MOST_ON_STACK {
                return Err(LowerError::TooMuchPrivate { name: name.clone(), bytes: block.bytes, all, most: MOST_ON_STACK });
            }
            declare_block(name, block, body);
        }
        Ok(())
    }

    fn block(&mut self, name: &Name, space: AddressSpace) -> &mut Block {
        self.blocks.entry(name.clone()).or_insert(Block { space, bytes: 0, parts: Vec::new() })
    }

    /// Gives a variable, and each copy of it, the values of a table.
    fn copy(&self, scope: &mut Scope<'_>, name: &Name, table: &Name, size: u64) -> Result<Statement, LowerError> {
        let array = scope.array(name)?.clone();
        let index_type: Type = scope.kernel.index_type.into();
        let is_number = self.variables.get(name).is_some_and(|declaration| declaration.lengths.is_empty());
        let mut loops: Vec<(Name, u64)> = array.widened.iter().map(|(_, length)| (scope.names.make("copy"), *length)).collect();
        if !is_number {
            loops.push((scope.names.make("at"), size));
        }
        let indices: Vec<Value> = loops.iter().map(|(name, _)| Value::name(index_type.clone(), name.clone())).collect();
        let at = if is_number { super::number::int(&index_type, 0) } else { indices[indices.len() - 1].clone() };
        let from = Value::new(array.ty.clone(), ValueKind::Element(table.clone(), vec![at]));
        let to = match indices.is_empty() {
            true => Value::name(array.ty.clone(), name.clone()),
            false => Value::new(array.ty.clone(), ValueKind::Element(name.clone(), indices)),
        };
        let mut statement = Statement::Assign(to, from);
        for (name, length) in loops.into_iter().rev() {
            statement = Statement::For(super::tree::For {
                name,
                first: super::number::int(&index_type, 0),
                limit: super::number::int(&index_type, length.into()),
                inclusive: false,
                step: 1,
                hint: super::tree::LoopHint::None,
                body: vec![statement],
            });
        }
        Ok(statement)
    }
}

/// A name that no variable of the kernel has: one would hide what it is the name of.
fn apart(kernel: &LoopKernel, name: String) -> Name {
    let is_taken = |name: &Name| {
        let is_argument = kernel.arguments.iter().any(|argument| argument.name == *name);
        is_argument || kernel.temporaries.contains_key(name) || kernel.inames.contains_key(name)
    };
    let mut name = Name::from(name);
    while is_taken(&name) {
        name = format!("{name}_").into();
    }
    name
}

fn declare_block(name: &Name, block: &Block, body: &mut Vec<Statement>) {
    let is_used = |part: &&(Name, Type)| body.iter().any(|statement| mentions(statement, &part.0));
    let used: Vec<&(Name, Type)> = block.parts.iter().filter(is_used).collect();
    let space = block.space;
    for (part, ty) in used.iter().rev() {
        body.insert(0, Statement::Alias { name: part.clone(), ty: ty.clone(), space, storage: name.clone() });
    }
    if !used.is_empty() && !matches!(space, AddressSpace::Global | AddressSpace::Constant) {
        let (name, ty, lengths) = (name.clone(), DType::U8.into(), vec![block.bytes.max(1)]);
        body.insert(0, Statement::Declare(Declaration { name, ty, space, lengths, constant: false, value: None, alignment: Some(16) }));
    }
}

fn array(name: &Name, code_name: &Name, ty: Type, space: AddressSpace, layout: &Layout, storage: Storage) -> Result<Array, LowerError> {
    let axes = match layout.axes(name) {
        // For an array of unknown shape, a single index is the position in memory.
        Err(LayoutError::UnknownAxes { .. }) => vec![Axis::Stride(parloop_ir::syntax::Expr::int(1))],
        axes => axes?,
    };
    Ok(Array {
        name: code_name.clone(),
        ty,
        space,
        axes,
        lengths: layout.lengths().map(<[_]>::to_vec),
        offset: layout.offset(name),
        storage,
        widened: Vec::new(),
    })
}

fn typed(name: &Name, ty: Option<&Type>) -> Result<Type, LowerError> {
    ty.cloned().ok_or_else(|| LowerError::Untyped { name: name.clone() })
}

fn type_size(ty: &Type) -> u64 {
    ty.size().map_or(8, |bytes| bytes as u64)
}

/// Checks that a target has the type.
fn check_type(name: &Name, ty: &Type, target: Target) -> Result<(), LowerError> {
    match (ty, target) {
        (Type::Vector(..) | Type::Record(_), Target::Ispc) => {
            let what = format!("`{name}` has elements of type {}; use arrays of numbers", parloop_ir::callable::TypeName(ty.clone()));
            Err(LowerError::Unsupported { target, what })
        }
        _ => Ok(()),
    }
}

fn static_size(name: &Name, layout: &Layout, space: AddressSpace) -> Result<u64, LowerError> {
    let space = if space == AddressSpace::Local { "local" } else { "private" };
    layout.static_size(name)?.ok_or_else(|| LowerError::NotConstantSize { name: name.clone(), space })
}

fn separate_lengths(name: &Name, layout: &Layout) -> Result<Vec<u64>, LowerError> {
    let lengths = layout.separate_lengths(name)?;
    let number = |length| constant(&length).and_then(|length| u64::try_from(length).ok());
    lengths
        .into_iter()
        .map(|length| number(length).ok_or_else(|| LowerError::NotConstantSize { name: name.clone(), space: "separate" }))
        .collect()
}

impl Shared {
    /// The table of those values, by its name in the code.
    fn table(&mut self, kernel: &LoopKernel, name: &Name, initializer: &Initializer) -> Name {
        let values = values(initializer);
        let found = |table: &Table| table.ty == Type::Scalar(initializer.dtype) && table.values == values;
        let mut unique = name.clone();
        if let Some(table) = self.tables.iter().find(|table| table.name == *name) {
            if found(table) {
                return name.clone();
            }
            unique = format!("{}_{name}", kernel.name).into();
        }
        if self.tables.iter().all(|table| table.name != unique) {
            self.tables.push(Table { name: unique.clone(), ty: initializer.dtype.into(), values });
        }
        unique
    }
}

/// The initial values of a temporary in its memory layout; `bytes` are given in C order.
fn in_memory_order(temporary: &Temporary, target: Target) -> Result<Option<Initializer>, LowerError> {
    let Some(given) = &temporary.initializer else { return Ok(None) };
    let (name, shape) = (&temporary.name, &given.shape);
    let axes = temporary.layout.axes(name)?;
    if axes.len() != shape.len() {
        return Ok(Some(given.clone()));
    }
    let stride = |axis: &Axis| match axis {
        Axis::Stride(stride) => constant(stride).and_then(|stride| usize::try_from(stride).ok()),
        _ => None,
    };
    let Some(strides) = axes.iter().map(stride).collect::<Option<Vec<usize>>>() else {
        let what = format!("temporary `{name}` has initial values, and strides that are not constants; lay it out in C or Fortran order");
        return Err(LowerError::Unsupported { target, what });
    };
    let width = given.dtype.size();
    let size = shape.iter().zip(&strides).map(|(&length, stride)| length.saturating_sub(1) * stride).sum::<usize>() + 1;
    let mut bytes = vec![0; size * width];
    for (at, element) in given.bytes.chunks_exact(width).enumerate() {
        let (mut rest, mut place) = (at, 0);
        for (length, stride) in shape.iter().zip(&strides).rev() {
            place += rest % length * stride;
            rest /= length;
        }
        bytes[place * width..][..width].copy_from_slice(element);
    }
    Ok(Some(Initializer { bytes: bytes.into(), ..given.clone() }))
}

/// The elements of an initializer as literals.
fn values(initializer: &Initializer) -> Vec<Value> {
    let dtype = initializer.dtype;
    initializer.bytes.chunks_exact(dtype.size()).map(|bytes| Value::new(dtype, literal(dtype, bytes))).collect()
}

fn literal(dtype: DType, bytes: &[u8]) -> ValueKind {
    let four = |at: usize| <[u8; 4]>::try_from(&bytes[at..at + 4]).unwrap_or_default();
    let eight = |at: usize| <[u8; 8]>::try_from(&bytes[at..at + 8]).unwrap_or_default();
    let two = || <[u8; 2]>::try_from(&bytes[..2]).unwrap_or_default();
    match dtype {
        DType::Bool => ValueKind::Bool(bytes[0] != 0),
        DType::I8 => ValueKind::Int(i128::from(bytes[0] as i8)),
        DType::U8 => ValueKind::Int(i128::from(bytes[0])),
        DType::I16 => ValueKind::Int(i128::from(i16::from_ne_bytes(two()))),
        DType::U16 => ValueKind::Int(i128::from(u16::from_ne_bytes(two()))),
        DType::I32 => ValueKind::Int(i128::from(i32::from_ne_bytes(four(0)))),
        DType::U32 => ValueKind::Int(i128::from(u32::from_ne_bytes(four(0)))),
        DType::I64 => ValueKind::Int(i128::from(i64::from_ne_bytes(eight(0)))),
        DType::U64 => ValueKind::Int(i128::from(u64::from_ne_bytes(eight(0)))),
        DType::F32 => ValueKind::Float(f32::from_ne_bytes(four(0)).into()),
        DType::F64 => ValueKind::Float(f64::from_ne_bytes(eight(0))),
        DType::C64 => ValueKind::Complex(f32::from_ne_bytes(four(0)).into(), f32::from_ne_bytes(four(4)).into()),
        DType::C128 => ValueKind::Complex(f64::from_ne_bytes(eight(0)), f64::from_ne_bytes(eight(8))),
    }
}

/// The parameters that are arguments of the kernel, in its order.
pub(super) fn argument_params(kernel: &LoopKernel, launched: bool) -> Result<Vec<Param>, LowerError> {
    let written: BTreeSet<Name> = kernel.instructions.iter().flat_map(|instruction| instruction.writes()).collect();
    let mut params = Vec::new();
    for argument in &kernel.arguments {
        let ty = typed(&argument.name, argument.ty.as_ref())?;
        let source = ParamSource::Argument(argument.name.clone());
        match &argument.kind {
            ArgumentKind::Array { space, layout, alignment } => {
                let constant = !written.contains(&argument.name);
                let pointer = Some(*space);
                // What is a multiple of 24 is one of 8.
                let alignment = alignment.filter(|bytes| *bytes > 1).map(|bytes| 1 << bytes.trailing_zeros()).filter(|_| launched);
                let param = |name: Name, source| Param { name, ty: ty.clone(), pointer, constant, restrict: launched, alignment, source };
                let lengths = separate_lengths(&argument.name, layout)?;
                if lengths.is_empty() {
                    params.push(param(argument.name.clone(), source));
                }
                for indices in all_indices(&lengths) {
                    let source = ParamSource::Separate(argument.name.clone(), indices.clone());
                    params.push(param(separate_name(&argument.name, &indices), source));
                }
            }
            ArgumentKind::Object => {
                let constant = !written.contains(&argument.name);
                params.push(Param { constant, ..value_param(&argument.name, ty, source) });
            }
            ArgumentKind::Value | ArgumentKind::Image(_) => params.push(value_param(&argument.name, ty, source)),
        }
    }
    Ok(params)
}

/// All indices inside those lengths, the last one varying fastest; none for no axes.
fn all_indices(lengths: &[u64]) -> Vec<Vec<u64>> {
    if lengths.is_empty() {
        return Vec::new();
    }
    let mut all = vec![Vec::new()];
    for &length in lengths {
        all = all.into_iter().flat_map(|front| (0..length).map(move |index| [front.clone(), vec![index]].concat())).collect();
    }
    all
}

impl Scope<'_> {
    /// Each call determines the length of arrays of unknown extent.
    pub(super) fn find_lengths(&mut self) {
        for argument in &self.kernel.arguments {
            let ArgumentKind::Array { layout, .. } = &argument.kind else { continue };
            let lengths = layout.unknown_lengths(&argument.name);
            if let Some(array) = self.arrays.get_mut(&argument.name).filter(|_| !lengths.is_empty()) {
                array.lengths = Some(lengths.iter().map(|length| parloop_ir::syntax::Expr::var(length.clone())).collect());
                self.numbers.extend(lengths.into_iter().map(|length| (length, DType::I64.into())));
            }
        }
    }
}

/// The strides, offsets and lengths that a call determines, if the body uses them.
pub(super) fn hidden_params(kernel: &LoopKernel, body: &[Statement]) -> Vec<Param> {
    let mut params = Vec::new();
    for argument in &kernel.arguments {
        let ArgumentKind::Array { layout, .. } = &argument.kind else { continue };
        for (name, hidden) in layout.hidden_parameters(&argument.name) {
            let source = match hidden {
                Hidden::Stride(axis) => ParamSource::Stride(argument.name.clone(), axis),
                Hidden::Offset => ParamSource::Offset(argument.name.clone()),
            };
            if body.iter().any(|statement| mentions(statement, &name)) {
                params.push(value_param(&name, kernel.index_type.into(), source));
            }
        }
        for (axis, name) in layout.unknown_lengths(&argument.name).into_iter().enumerate() {
            if body.iter().any(|statement| mentions(statement, &name)) {
                params.push(value_param(&name, DType::I64.into(), ParamSource::Length(argument.name.clone(), axis)));
            }
        }
    }
    params
}

/// The temporaries in global memory that the body uses.
pub(super) fn temporary_params(kernel: &LoopKernel, body: &[Statement]) -> Result<Vec<Param>, LowerError> {
    let mut params: Vec<Param> = Vec::new();
    for temporary in kernel.temporaries.values().filter(|temporary| is_global(temporary)) {
        let name = temporary.base_storage.as_ref().unwrap_or(&temporary.name);
        if !body.iter().any(|statement| mentions(statement, name)) || params.iter().any(|param| param.name == *name) {
            continue;
        }
        let ty = match &temporary.base_storage {
            Some(_) => DType::U8.into(),
            None => typed(name, temporary.ty.as_ref())?,
        };
        let source = ParamSource::Temporary(name.clone());
        let pointer = Some(AddressSpace::Global);
        params.push(Param {
            name: name.clone(),
            ty,
            pointer,
            constant: false,
            restrict: temporary.base_storage.is_none(),
            alignment: None,
            source,
        });
    }
    Ok(params)
}

fn is_global(temporary: &Temporary) -> bool {
    let held_by_host = matches!(temporary.space, Some(AddressSpace::Global | AddressSpace::Constant));
    held_by_host && !(temporary.read_only && temporary.initializer.is_some())
}

/// What the host allocates for the temporaries among the parameters.
pub(super) fn globals(kernel: &LoopKernel, params: &[Param], target: Target) -> Result<Vec<GlobalTemporary>, LowerError> {
    let mut found = Vec::new();
    for param in params {
        let ParamSource::Temporary(name) = &param.source else { continue };
        let parts = kernel.temporaries.values().filter(|temporary| temporary.base_storage.as_ref().unwrap_or(&temporary.name) == name);
        let mut size = parloop_ir::syntax::Expr::int(0);
        let mut initializer = None;
        for part in parts {
            let elements = part.layout.size(&part.name)?;
            let (elements, is_part) = match &part.base_storage {
                Some(_) => {
                    let width = part.ty.as_ref().map_or(8, type_size);
                    (parloop_ir::fold::multiply(parloop_ir::syntax::Expr::int(width as i64), elements), true)
                }
                None => (elements, false),
            };
            size = if is_part && parloop_ir::fold::as_int(&size) != Some(0) {
                parloop_ir::syntax::Expr::Max(vec![size, elements].into())
            } else {
                elements
            };
            initializer = in_memory_order(part, target)?;
        }
        found.push(GlobalTemporary { name: name.clone(), ty: param.ty.clone(), size, initializer });
    }
    Ok(found)
}
