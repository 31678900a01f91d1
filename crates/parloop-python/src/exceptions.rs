//! The Python exceptions: one family, each also a builtin of the fitting kind.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

macro_rules! exceptions {
    ($($name:ident: $parent:ident, $builtin:literal, $doc:literal;)*) => {
        /// An exception class of `parloop`, by its name in Python.
        #[allow(clippy::enum_variant_names)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(clippy::enum_variant_names)] // they are the names of Python's classes
        pub enum Exception { $($name),* }

        impl Exception {
            const ALL: &'static [Exception] = &[$(Exception::$name),*];

            fn parts(self) -> (&'static str, Exception, &'static str, &'static str) {
                match self { $(Exception::$name => (stringify!($name), Exception::$parent, $builtin, $doc)),* }
            }
        }
    };
}
exceptions! {
    ParloopError: ParloopError, "", "Base class of all exceptions that parloop raises.";
    SettingError: ParloopError, "ValueError", "A parloop environment variable has an invalid value.";
    DeviceError: ParloopError, "RuntimeError", "A device or its driver failed.";
    DeviceNotFoundError: DeviceError, "ValueError", "The device name is unknown, or the device was not found.";
    DriverMissingError: DeviceError, "OSError", "A driver library is not installed; the message says how to install it.";
    OutOfMemoryError: DeviceError, "MemoryError", "The device is out of memory.";
    MemoryRangeError: DeviceError, "IndexError", "An access is out of bounds of the memory.";
    OtherDeviceError: DeviceError, "ValueError", "Memory or an event of one device was used on another.";
    LaunchError: DeviceError, "ValueError", "A grid or block is not allowed.";
    ForkedError: DeviceError, "RuntimeError", "A driver, or data in use, does not work in a forked child; start processes with spawn.";
    RecordingError: DeviceError, "RuntimeError", "Something cannot be recorded, or a recording is not finished.";
    AbandonedError: DeviceError, "RuntimeError", "A wait for the device was abandoned by Ctrl-C; it cannot be used in this process any more.";
    CompileError: ParloopError, "RuntimeError", "The compiler rejected the source or failed; the message shows the lines.";
    CompilerMissingError: CompileError, "OSError", "No compiler was found for the target; the message says how to install one.";
    SourceError: ParloopError, "ValueError", "The source cannot be parsed, or a kernel in it cannot be called.";
    KernelNotFoundError: ParloopError, "AttributeError", "The program has no kernel of that name.";
    ArgumentError: ParloopError, "TypeError", "An argument does not fit the kernel's signature.";
    ArgumentValueError: ArgumentError, "ValueError", "The value or the array of an argument cannot be used.";
    ArgumentRangeError: ArgumentError, "OverflowError", "A number does not fit into the declared type.";
    ObjectError: ParloopError, "Exception", "An object cannot be created, read or changed.";
    ObjectTypeError: ObjectError, "TypeError", "A value does not match the type of the object.";
    ObjectValueError: ObjectError, "ValueError", "A value has the wrong shape or size.";
    ObjectRangeError: ObjectError, "OverflowError", "A number does not fit into its type.";
    ObjectIndexError: ObjectError, "IndexError", "An index is out of bounds.";
    UnknownFieldError: ObjectError, "TypeError AttributeError", "A struct has no field of that name.";
    FreedError: ObjectError, "ReferenceError", "The memory of an object was freed.";
    BufferFreeError: ObjectError, "ValueError", "Memory was freed twice or was never allocated.";
    ProgramFileError: ParloopError, "ValueError", "A program cannot be saved, or a file holds no program that can be loaded on this device.";
    LoopError: ParloopError, "ValueError RuntimeError", "A loop kernel cannot be created, transformed, compiled or run.";
    LoopSyntaxError: LoopError, "SyntaxError", "The text of a kernel cannot be parsed; the message shows the line.";
    LoopTypeError: LoopError, "TypeError", "Types of a loop kernel do not match, or are unknown.";
    LoopRaceError: LoopError, "ValueError", "Work items of a loop kernel race: they write to the same memory concurrently.";
    LoopOrderError: LoopError, "ValueError", "The order of two accesses in a loop kernel is not determined.";
    LoopDefinitionError: LoopError, "ValueError", "A loop kernel reads a variable that was never written.";
    LoopScheduleError: LoopError, "ValueError", "The loops of a kernel cannot be ordered.";
    LoopReductionError: LoopError, "ValueError", "A reduction or scan is not supported in this form.";
    LoopIndexError: LoopError, "IndexError", "An index of a loop kernel is out of bounds.";
    MeshError: ParloopError, "Exception", "A set, a map, data on a set, or a loop over a mesh cannot be created or used as requested.";
    SizeTypeError: MeshError, "TypeError", "The size of a set is neither an integer nor a tuple of three.";
    NameTypeError: MeshError, "TypeError", "A name is not a string.";
    DimTypeError: MeshError, "TypeError", "The dimension of data is neither a positive integer nor a tuple of them.";
    ArityTypeError: MeshError, "TypeError", "The arity of a map is not a positive integer.";
    IndexTypeError: MeshError, "TypeError", "An index is not an integer.";
    SetTypeError: MeshError, "TypeError", "An argument is not a set, or is a subset where none is allowed.";
    DataSetTypeError: MeshError, "TypeError", "An argument is not a set with a dimension.";
    MapTypeError: MeshError, "TypeError", "An argument is not a map, or is a map of floats.";
    DatTypeError: MeshError, "TypeError", "An argument is not data on a set.";
    SparsityTypeError: MeshError, "TypeError", "An argument is not a sparsity.";
    DataTypeError: MeshError, "TypeError", "The element type is unknown or does not match.";
    KernelTypeError: MeshError, "TypeError", "An argument is not a kernel, or a kernel does not match its arguments.";
    SubsetIndexOutOfBounds: MeshError, "TypeError", "A subset has an element that is not in its set.";
    SetValueError: MeshError, "ValueError", "The sizes of a set are invalid, or sets do not match.";
    MapValueError: MeshError, "ValueError", "A map is out of bounds of its set, or does not match the data or the loop.";
    DataValueError: MeshError, "ValueError", "Values cannot be converted, or there are too few or too many.";
    IndexValueError: MeshError, "ValueError", "Data has no component of that index.";
    ModeValueError: MeshError, "ValueError", "Data does not allow this access.";
    MeshFileError: MeshError, "OSError", "A mesh file cannot be written.";
    CheckError: ParloopError, "IndexError", "In checked mode: a kernel used an index that is out of bounds, or a null reference.";
}

/// Those that `parloop` itself has: base classes, and what programs catch most often. The others are in `parloop.errors` alone.
const IN_PACKAGE: &[Exception] = &[
    Exception::ArgumentError,
    Exception::CheckError,
    Exception::CompileError,
    Exception::DeviceError,
    Exception::KernelNotFoundError,
    Exception::LoopError,
    Exception::MeshError,
    Exception::ObjectError,
    Exception::OutOfMemoryError,
    Exception::ParloopError,
    Exception::RecordingError,
];

static CLASSES: PyOnceLock<Vec<Py<PyType>>> = PyOnceLock::new();

impl Exception {
    /// The class itself.
    pub fn class(self, py: Python<'_>) -> PyResult<Bound<'_, PyType>> {
        let classes = CLASSES.get_or_try_init(py, || make_all(py))?;
        Ok(classes[self as usize].bind(py).clone())
    }

    /// An error of this class.
    pub fn error(self, message: String) -> PyErr {
        Python::attach(|py| match self.class(py) {
            Ok(class) => PyErr::from_type(class, message),
            Err(error) => error,
        })
    }
}

fn make_all(py: Python<'_>) -> PyResult<Vec<Py<PyType>>> {
    let builtins = py.import("builtins")?;
    let make = py.get_type::<PyType>();
    let mut classes: Vec<Py<PyType>> = Vec::new();
    for exception in Exception::ALL {
        let (name, parent, builtin, doc) = exception.parts();
        let bases = match classes.get(parent as usize) {
            None => PyTuple::new(py, [py.get_type::<PyException>().into_any()])?,
            Some(parent) => {
                let builtins = builtin.split(' ').map(|name| builtins.getattr(name));
                PyTuple::new(py, [Ok(parent.bind(py).clone().into_any())].into_iter().chain(builtins).collect::<PyResult<Vec<_>>>()?)?
            }
        };
        let body = PyDict::new(py);
        if builtin == "SyntaxError" {
            // Its text is an attribute that only its own initialiser sets, and the parent's comes first.
            body.set_item("__init__", builtins.getattr(builtin)?.getattr("__init__")?)?;
        }
        body.set_item("__doc__", doc)?;
        body.set_item("__module__", if IN_PACKAGE.contains(exception) { "parloop" } else { "parloop.errors" })?;
        classes.push(make.call1((name, bases, body))?.cast_into::<PyType>()?.unbind());
    }
    Ok(classes)
}

/// Puts every class into the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for exception in Exception::ALL {
        module.add(exception.parts().0, exception.class(module.py())?)?;
    }
    Ok(())
}
