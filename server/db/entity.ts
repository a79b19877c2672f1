import type { DataType, InferAttributes, InferCreationAttributes, Model } from 'sequelize';

/** A model with its attributes, all of which have to be given for a new record unless they are CreationOptional. */
export type Entity<M extends Model> = Model<InferAttributes<M>, InferCreationAttributes<M>>;

/** Returns the definition of an attribute of the primary key. */
export const key = (type: DataType) => ({ type, primaryKey: true });
