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
    ParloopError: ParloopError, "", "Everything that parloop raises.";
    SettingError: ParloopError, "ValueError", "An environment variable of parloop's has a value that it cannot have.";
    DeviceError: ParloopError, "RuntimeError", "A device or its driver failed.";
    DeviceNotFoundError: DeviceError, "ValueError", "No device has that name, or it is not here.";
    DriverMissingError: DeviceError, "OSError", "A driver's library is not installed; the message says how to get it.";
    OutOfMemoryError: DeviceError, "MemoryError", "The device has no room.";
    MemoryRangeError: DeviceError, "IndexError", "Bytes outside the memory were asked for.";
    OtherDeviceError: DeviceError, "ValueError", "Memory or an event of one device was used on another.";
    LaunchError: DeviceError, "ValueError", "A grid or block is not allowed.";
    ForkedError: DeviceError, "RuntimeError", "A driver, or data in use, does not work in a forked child; start processes with spawn.";
    RecordingError: DeviceError, "RuntimeError", "Something cannot be recorded, or a recording is not finished.";
    AbandonedError: DeviceError, "RuntimeError", "A wait for the device was abandoned by Ctrl-C; it cannot be used in this process any more.";
    CompileError: ParloopError, "RuntimeError", "The compiler refused the source or failed; the message shows the lines.";
    CompilerMissingError: CompileError, "OSError", "There is no compiler for the target; the message says how to get one.";
    SourceError: ParloopError, "ValueError", "The source cannot be read, or a kernel in it cannot be called.";
    KernelNotFoundError: ParloopError, "AttributeError", "The program has no such kernel.";
    ArgumentError: ParloopError, "TypeError", "An argument does not fit the kernel's signature.";
    ArgumentValueError: ArgumentError, "ValueError", "An argument's value or array cannot be used.";
    ArgumentRangeError: ArgumentError, "OverflowError", "A number does not fit into the declared type.";
    ObjectError: ParloopError, "Exception", "An object cannot be made, read or changed.";
    ObjectTypeError: ObjectError, "TypeError", "A value is of another kind than the object's type says.";
    ObjectValueError: ObjectError, "ValueError", "A value has the wrong shape or size.";
    ObjectRangeError: ObjectError, "OverflowError", "A number does not fit into its type.";
    ObjectIndexError: ObjectError, "IndexError", "An index is outside of an array.";
    UnknownFieldError: ObjectError, "TypeError AttributeError", "A struct has no such field.";
    FreedError: ObjectError, "ReferenceError", "The memory of an object was freed.";
    BufferFreeError: ObjectError, "ValueError", "What was freed twice, or was never allocated.";
    ProgramFileError: ParloopError, "ValueError", "A program cannot be saved, or a file holds none that could be loaded here.";
    LoopError: ParloopError, "ValueError RuntimeError", "A loop kernel cannot be made, transformed, written or run.";
    LoopSyntaxError: LoopError, "SyntaxError", "The text of a kernel cannot be read; the message shows the line.";
    LoopTypeError: LoopError, "TypeError", "Types of a loop kernel do not fit, or are not known.";
    LoopRaceError: LoopError, "ValueError", "Work items of a loop kernel write to the same place at once.";
    LoopOrderError: LoopError, "ValueError", "Nothing says which of two accesses of a loop kernel comes first.";
    LoopDefinitionError: LoopError, "ValueError", "A loop kernel reads what nothing was written to.";
    LoopScheduleError: LoopError, "ValueError", "The loops of a kernel cannot be put into an order.";
    LoopReductionError: LoopError, "ValueError", "A reduction or scan cannot be done so.";
    LoopIndexError: LoopError, "IndexError", "An index of a loop kernel is outside of its array.";
    MeshError: ParloopError, "Exception", "A set, map, data on a set, or a loop over a mesh cannot be made or used so.";
    SizeTypeError: MeshError, "TypeError", "The size of a set is neither an integer nor a tuple of three.";
    NameTypeError: MeshError, "TypeError", "A name is not text.";
    DimTypeError: MeshError, "TypeError", "The dimension of data is neither a positive integer nor a tuple of them.";
    ArityTypeError: MeshError, "TypeError", "The arity of a map is not a positive integer.";
    IndexTypeError: MeshError, "TypeError", "An index is not an integer.";
    SetTypeError: MeshError, "TypeError", "Something else was given where a set is needed, or a subset where it cannot be.";
    DataSetTypeError: MeshError, "TypeError", "Something else was given where a set with a dimension is needed.";
    MapTypeError: MeshError, "TypeError", "Something else was given where a map is needed, or a map of floats.";
    DatTypeError: MeshError, "TypeError", "Something else was given where data on a set is needed.";
    SparsityTypeError: MeshError, "TypeError", "Something else was given where a sparsity is needed.";
    DataTypeError: MeshError, "TypeError", "The type of numbers is not known, or does not fit.";
    KernelTypeError: MeshError, "TypeError", "Something else was given where a kernel is needed, or a kernel does not fit its arguments.";
    SubsetIndexOutOfBounds: MeshError, "TypeError", "A subset has an element that its set has not.";
    SetValueError: MeshError, "ValueError", "The sizes of a set are not possible, or sets do not belong together.";
    MapValueError: MeshError, "ValueError", "A map leads outside of its set, or does not fit the data or the loop.";
    DataValueError: MeshError, "ValueError", "Numbers cannot be converted, or are too few or too many.";
    IndexValueError: MeshError, "ValueError", "Data has no such component.";
    ModeValueError: MeshError, "ValueError", "Data cannot be accessed so.";
    MeshFileError: MeshError, "OSError", "A file with a mesh cannot be written.";
    CheckError: ParloopError, "IndexError", "In checked mode: a kernel used an index outside its object, or a null reference.";
}

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
        body.set_item("__module__", "parloop")?;
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
