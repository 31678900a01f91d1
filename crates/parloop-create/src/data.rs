//! Arguments and temporaries as a user writes them: names with commas, shapes, strides and dim tags as text, parsed when the kernel is
//! built.

use std::collections::BTreeSet;

use parloop_device::DType;
use parloop_ir::parse::{self, parse_dim_tag_list, parse_dim_tags, settled, split_at_commas};
use parloop_ir::syntax::{AddressSpace, Argument, ArgumentKind, DimTag, Expr, Initializer, Layout, Offset, Shape, Stride, Temporary, Type};
use parloop_isl::Name;

use super::error::{CreateError, NameKind};

/// The order in which axes vary in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last axis varies fastest.
    #[default]
    C,
    /// The first axis varies fastest.
    Fortran,
    /// Each call takes the strides from the array that is passed.
    Auto,
}

/// A shape as it is given.
#[derive(Clone, Debug, Default, PartialEq)]
enum ShapeText {
    #[default]
    Auto,
    Unknown,
    Text(String),
    Known(Vec<Expr>),
}

/// Dim tags as they are given.
#[derive(Clone, Debug, Default, PartialEq)]
enum Tags {
    #[default]
    ByOrder,
    Text(String),
    List(Vec<String>),
    Strides(String),
    AutoStrides,
    Known(Vec<DimTag>),
}

/// A type as it is given.
#[derive(Clone, Debug, PartialEq)]
enum TypeText {
    Text(String),
    Known(Type),
}

impl From<&str> for TypeName {
    fn from(text: &str) -> TypeName {
        TypeName(TypeText::Text(text.to_owned()))
    }
}

impl From<DType> for TypeName {
    fn from(dtype: DType) -> TypeName {
        TypeName(TypeText::Known(dtype.into()))
    }
}

impl From<Type> for TypeName {
    fn from(ty: Type) -> TypeName {
        TypeName(TypeText::Known(ty))
    }
}

/// A type, or the name of one: `"float32"`, `"np.float32"`, `DType::F32`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeName(TypeText);

#[derive(Clone, Debug, PartialEq)]
enum Role {
    Array(AddressSpace),
    Value,
    Object,
    Image,
    Temporary,
}

/// One or several arguments or temporaries with the same properties. What is not given is inferred from their use.
///
/// ```
/// use parloop_loop::create::Data;
/// let matrices = Data::global("a, b").dtype("float32").shape("n, n").order(parloop_loop::create::Order::Fortran);
/// let size = Data::value("n").dtype("int32");
/// # let _ = (matrices, size);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    names: String,
    role: Role,
    dtype: Option<TypeName>,
    shape: ShapeText,
    tags: Tags,
    order: Option<Order>,
    offset: Option<Result<Offset, String>>,
    axis_names: Option<Vec<Name>>,
    alignment: Option<u32>,
    is_input: Option<bool>,
    is_output: Option<bool>,
    space: Option<AddressSpace>,
    initializer: Option<Initializer>,
    read_only: bool,
    base_storage: Option<Name>,
    user_tags: BTreeSet<Name>,
}

impl Data {
    fn of(names: impl Into<String>, role: Role) -> Data {
        Data {
            names: names.into(),
            role,
            dtype: None,
            shape: ShapeText::Auto,
            tags: Tags::ByOrder,
            order: None,
            offset: None,
            axis_names: None,
            alignment: None,
            is_input: None,
            is_output: None,
            space: None,
            initializer: None,
            read_only: false,
            base_storage: None,
            user_tags: BTreeSet::new(),
        }
    }

    /// Arrays in global memory; several names are separated by commas.
    pub fn global(names: impl Into<String>) -> Data {
        Data::of(names, Role::Array(AddressSpace::Global))
    }

    /// Arrays in constant memory, which are never written.
    pub fn constant(names: impl Into<String>) -> Data {
        Data::of(names, Role::Array(AddressSpace::Constant))
    }

    /// Arrays in the given address space; private and local ones are for functions that kernels call.
    pub fn array(names: impl Into<String>, space: AddressSpace) -> Data {
        Data::of(names, Role::Array(space))
    }

    /// Numbers that are passed by value.
    pub fn value(names: impl Into<String>) -> Data {
        Data::of(names, Role::Value)
    }

    /// Typed objects; give their class with [`dtype`](Self::dtype).
    pub fn object(names: impl Into<String>) -> Data {
        Data::of(names, Role::Object)
    }

    /// Images, which only OpenCL has; give their shape.
    pub fn image(names: impl Into<String>) -> Data {
        Data::of(names, Role::Image)
    }

    /// Temporaries of the kernel.
    pub fn temporary(names: impl Into<String>) -> Data {
        Data::of(names, Role::Temporary)
    }

    /// The type of the elements.
    pub fn dtype(mut self, dtype: impl Into<TypeName>) -> Data {
        self.dtype = Some(dtype.into());
        self
    }

    /// The lengths of the axes, separated by commas: `"n, 3"`; `"()"` for a number.
    pub fn shape(mut self, shape: impl Into<String>) -> Data {
        self.shape = ShapeText::Text(shape.into());
        self
    }

    /// The lengths of the axes.
    pub fn shape_of(mut self, shape: impl IntoIterator<Item = Expr>) -> Data {
        self.shape = ShapeText::Known(shape.into_iter().collect());
        self
    }

    /// Leaves the shape unknown: bounds are not checked.
    pub fn unknown_shape(mut self) -> Data {
        self.shape = ShapeText::Unknown;
        self
    }

    /// The order of the axes in memory.
    pub fn order(mut self, order: Order) -> Data {
        self.order = Some(order);
        self
    }

    /// The dim tag of each axis; see [`parse_dim_tags`].
    pub fn dim_tags(mut self, tags: impl Into<String>) -> Data {
        self.tags = Tags::Text(tags.into());
        self
    }

    /// The dim tag of each axis, one text for each.
    pub fn dim_tag_list(mut self, tags: impl IntoIterator<Item = impl Into<String>>) -> Data {
        self.tags = Tags::List(tags.into_iter().map(Into::into).collect());
        self
    }

    /// The dim tag of each axis.
    pub fn dim_tags_of(mut self, tags: impl IntoIterator<Item = DimTag>) -> Data {
        self.tags = Tags::Known(tags.into_iter().collect());
        self
    }

    /// The stride of each axis, in elements: `"n, 1"`.
    pub fn strides(mut self, strides: impl Into<String>) -> Data {
        self.tags = Tags::Strides(strides.into());
        self
    }

    /// Each call takes the strides from the array that is passed.
    pub fn auto_strides(mut self) -> Data {
        self.tags = Tags::AutoStrides;
        self
    }

    /// Where the array begins in its memory, in elements.
    pub fn offset(mut self, offset: Offset) -> Data {
        self.offset = Some(Ok(offset));
        self
    }

    /// Where the array begins in its memory: an expression in text.
    pub fn offset_text(mut self, offset: impl Into<String>) -> Data {
        self.offset = Some(Err(offset.into()));
        self
    }

    /// Names for the axes.
    pub fn axis_names(mut self, names: impl IntoIterator<Item = impl Into<Name>>) -> Data {
        self.axis_names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// The guaranteed alignment in bytes: code relies on it, and each call checks it.
    pub fn alignment(mut self, bytes: u32) -> Data {
        self.alignment = Some(bytes);
        self
    }

    /// Whether the value on entry matters, regardless of the instructions.
    pub fn is_input(mut self, is: bool) -> Data {
        self.is_input = Some(is);
        self
    }

    /// Whether it is written, regardless of the instructions.
    pub fn is_output(mut self, is: bool) -> Data {
        self.is_output = Some(is);
        self
    }

    /// The memory of a temporary.
    pub fn space(mut self, space: AddressSpace) -> Data {
        self.space = Some(space);
        self
    }

    /// The initial values of a temporary.
    pub fn initializer(mut self, values: Initializer) -> Data {
        self.initializer = Some(values);
        self
    }

    /// The temporary is never written.
    pub fn read_only(mut self, is: bool) -> Data {
        self.read_only = is;
        self
    }

    /// The temporary shares memory with others of this storage.
    pub fn base_storage(mut self, storage: impl Into<Name>) -> Data {
        self.base_storage = Some(storage.into());
        self
    }

    /// User-defined tags.
    pub fn tags(mut self, tags: impl IntoIterator<Item = impl Into<Name>>) -> Data {
        self.user_tags = tags.into_iter().map(Into::into).collect();
        self
    }
}

/// Parsed [`Data`].
pub(super) struct Read {
    pub arguments: Vec<Argument>,
    pub temporaries: Vec<Temporary>,
    /// Whether the order of axes is explicit, so that the default does not apply.
    pub order_given: bool,
    /// Whether each call determines the strides.
    pub auto_strides: bool,
}

impl Data {
    /// Parses the texts.
    pub(super) fn read(&self) -> Result<Read, CreateError> {
        self.check_properties()?;
        let ty = self.dtype.as_ref().map(|name| name.read(&self.names)).transpose()?;
        let layout = self.layout()?;
        let mut read = Read {
            arguments: Vec::new(),
            temporaries: Vec::new(),
            order_given: self.order.is_some() || self.tags != Tags::ByOrder,
            auto_strides: self.tags == Tags::AutoStrides || self.order == Some(Order::Auto),
        };
        for name in self.names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            check_name(name)?;
            match self.kind(&layout)? {
                Some(kind) => read.arguments.push(Argument {
                    name: name.into(),
                    ty: ty.clone(),
                    kind,
                    is_input: self.is_input,
                    is_output: self.is_output,
                    tags: self.user_tags.clone(),
                }),
                None => read.temporaries.push(self.temporary_named(name, ty.clone(), layout.clone())),
            }
        }
        Ok(read)
    }

    /// Rejects properties that this kind of data cannot have.
    fn check_properties(&self) -> Result<(), CreateError> {
        let for_temporaries = [
            (self.space.is_some(), "an address space"),
            (self.initializer.is_some(), "initial values"),
            (self.read_only, "`read_only`"),
            (self.base_storage.is_some(), "a base storage"),
        ];
        let for_arguments = [(self.is_input.or(self.is_output).is_some(), "a direction"), (self.alignment.is_some(), "an alignment")];
        let for_arrays = [
            (self.shape != ShapeText::Auto, "a shape"),
            (self.tags != Tags::ByOrder || self.order.is_some(), "an order of axes"),
            (self.offset.is_some(), "an offset"),
            (self.axis_names.is_some(), "axis names"),
            (self.alignment.is_some(), "an alignment"),
        ];
        let (kind, refused) = match self.role {
            Role::Temporary => (NameKind::Temporary, for_arguments.to_vec()),
            Role::Array(_) | Role::Image => (NameKind::Argument, for_temporaries.to_vec()),
            Role::Value => (NameKind::ValueArgument, [&for_temporaries[..], &for_arrays[..]].concat()),
            Role::Object => (NameKind::Object, [&for_temporaries[..], &for_arrays[..]].concat()),
        };
        match refused.into_iter().find(|(given, _)| *given) {
            Some((_, property)) => Err(CreateError::NoSuchProperty { name: self.names.as_str().into(), kind, property }),
            None => Ok(()),
        }
    }

    fn kind(&self, layout: &Layout) -> Result<Option<ArgumentKind>, CreateError> {
        Ok(Some(match self.role {
            Role::Array(space) => ArgumentKind::Array { space, layout: layout.clone(), alignment: self.alignment },
            Role::Value => ArgumentKind::Value,
            Role::Object => ArgumentKind::Object,
            Role::Image => match &layout.shape {
                Shape::Known(axes) if (1..=3).contains(&axes.len()) => ArgumentKind::Image(axes.len() as u8),
                _ => return Err(CreateError::ImageShape { name: self.names.as_str().into() }),
            },
            Role::Temporary => return Ok(None),
        }))
    }

    fn temporary_named(&self, name: &str, ty: Option<Type>, layout: Layout) -> Temporary {
        let initial = self.initializer.as_ref();
        let layout = match (initial, &layout.shape) {
            (Some(values), Shape::Auto) => {
                Layout { shape: Shape::Known(values.shape.iter().map(|&length| Expr::int(length as i64)).collect()), ..layout }
            }
            _ => layout,
        };
        Temporary {
            name: name.into(),
            ty: ty.or_else(|| initial.map(|values| values.dtype.into())),
            layout,
            space: self.space,
            initializer: self.initializer.clone(),
            read_only: self.read_only,
            base_storage: self.base_storage.clone(),
            tags: self.user_tags.clone(),
        }
    }

    fn layout(&self) -> Result<Layout, CreateError> {
        let names = || Name::from(self.names.as_str());
        let shape = match &self.shape {
            ShapeText::Auto => Shape::Auto,
            ShapeText::Unknown => Shape::Unknown,
            ShapeText::Known(lengths) => Shape::Known(lengths.clone()),
            ShapeText::Text(text) => {
                Shape::Known(read_list(text).map_err(|reason| CreateError::Shape { name: names(), text: text.clone(), reason })?)
            }
        };
        let axes = match (&shape, &self.axis_names) {
            (Shape::Known(lengths), _) => Some(lengths.len()),
            (_, Some(axis_names)) => Some(axis_names.len()),
            _ => None,
        };
        let tag_error = |error| CreateError::DimTags { name: names(), error };
        let dim_tags = match &self.tags {
            Tags::ByOrder => Vec::new(),
            Tags::Text(text) => parse_dim_tags(text, axes).map_err(tag_error)?,
            Tags::List(list) => parse_dim_tag_list(&list.iter().map(String::as_str).collect::<Vec<_>>(), axes).map_err(tag_error)?,
            Tags::Known(tags) => tags.clone(),
            Tags::AutoStrides => vec![DimTag::Stride(Stride::Auto); axes.unwrap_or(0)],
            Tags::Strides(text) => {
                let strides = read_list(text).map_err(|reason| CreateError::Strides { name: names(), text: text.clone(), reason })?;
                strides.into_iter().map(|stride| DimTag::Stride(Stride::Fixed(stride))).collect()
            }
        };
        for found in [(!dim_tags.is_empty()).then_some(dim_tags.len()), self.axis_names.as_ref().map(Vec::len)].into_iter().flatten() {
            if let Some(axes) = axes
                && found != axes
            {
                return Err(CreateError::AxesDiffer { name: names(), found, axes });
            }
        }
        if let Some(axis_names) = &self.axis_names
            && let Some(double) = axis_names.iter().enumerate().find(|(index, name)| axis_names[..*index].contains(name))
        {
            return Err(CreateError::DoubleAxisName { name: names(), axis: double.1.clone() });
        }
        let offset = match &self.offset {
            None => Offset::Zero,
            Some(Ok(offset)) => offset.clone(),
            Some(Err(text)) => Offset::Given(parse::expression(text).map_err(|error| CreateError::Offset {
                name: names(),
                text: text.clone(),
                reason: error.to_string(),
            })?),
        };
        Ok(Layout { shape, dim_tags, fortran_order: self.order == Some(Order::Fortran), offset, axis_names: self.axis_names.clone() })
    }
}

impl TypeName {
    /// The type, or an error that names what it is for.
    pub(super) fn read(&self, what: &str) -> Result<Type, CreateError> {
        match &self.0 {
            TypeText::Known(ty) => Ok(ty.clone()),
            TypeText::Text(text) => read_type(text).ok_or_else(|| CreateError::UnknownType { name: what.into(), ty: text.clone() }),
        }
    }
}

/// The type of that name; NumPy's prefix is optional (`np.float32`).
fn read_type(text: &str) -> Option<Type> {
    let text = text.trim();
    let bare = ["np.", "numpy.", "np:"].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
    parse::type_name(bare)
}

/// Expressions separated by commas; `()` and the empty text are none, and enclosing brackets are removed.
fn read_list(text: &str) -> Result<Vec<Expr>, String> {
    let inner = text.trim();
    let inner = match inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inside) if split_at_commas(inner).len() == 1 && !inside.contains(['(', ')']) => inside,
        _ => inner,
    };
    let inner = inner.trim().trim_end_matches(',');
    if inner.is_empty() {
        return Ok(Vec::new());
    }
    split_at_commas(inner)
        .into_iter()
        .map(|part| parse::expression(part).map(|expr| settled(&expr, &BTreeSet::new())).map_err(|error| error.to_string()))
        .collect()
}

/// Names follow the rules of C.
pub(super) fn check_name(name: &str) -> Result<(), CreateError> {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if first && characters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(())
    } else {
        Err(CreateError::BadName { name: name.to_owned() })
    }
}
